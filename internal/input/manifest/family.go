package manifest

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Family is a Job with the Pods of the input that belong to it.
type Family struct {
	Job  Job
	Pods []Pod
}

// jobNameLabels are the labels that the Job controller puts on Pods, the one of today first.
var jobNameLabels = [...]string{batchv1.JobNameLabel, "job-name"}

// Families gives every Job its Pods, both in the order of the input. A Pod belongs to the Job that is its controller,
// else to the one of its namespace that its job-name label names. A Job that only its Pods name is there in place of the CronJob or
// JobSet that makes it, and so are Jobs of the input that JobSets of the input have made. Pods without either belong to the only Job if no Pod
// of the input has one and both do not name different namespaces. Others says of each Pod that belongs to no Job why. Two Jobs of
// one name are an error.
func (s *Set) Families() (families []Family, others []error, err error) {
	index, err := s.jobsByName()
	if err != nil {
		return nil, nil, err
	}
	s.Pods = slices.DeleteFunc(s.Pods, twice())
	says := func(pod Pod) bool { _, says := ClaimOf(pod.Object); return says }
	found, makers := s.give(s.Pods, index, slices.ContainsFunc(s.Pods, says), func(pod Pod, why *refusal) {
		message := fmt.Sprintf("pod %s belongs to no Job of the input: %s", pod.Reference(), why.why)
		others = append(others, pod.Origin.Error(why.field, message))
	})
	maps.Copy(makers, s.joinJobSets())
	for i, job := range s.Jobs {
		if last, known := s.byUID[job.Object.UID]; known && last != i {
			continue // the same Job at an earlier time
		}
		if !makers[i] || len(found[i]) > 0 {
			families = append(families, Family{job, found[i]})
		}
	}
	return families, others, nil
}

// twice returns a function that tells whether a Pod has ended and was there before, as in lines of history.
func twice() func(Pod) bool {
	seen := map[types.UID]bool{}
	return func(pod Pod) bool {
		ended := pod.Object.Status.Phase == corev1.PodFailed || pod.Object.Status.Phase == corev1.PodSucceeded
		if !ended || pod.Object.UID == "" {
			return false
		}
		before := seen[pod.Object.UID]
		seen[pod.Object.UID] = true
		return before
	}
}

// give returns Pods by the index of their Job, and the indexes of what makes Jobs that only Pods name, which it adds. anyClaimed tells
// whether a Pod of the input says whose it is.
func (s *Set) give(pods []Pod, index map[Reference]int, anyClaimed bool, refuse func(Pod, *refusal)) (map[int][]Pod, map[int]bool) {
	found, makers := map[int][]Pod{}, s.addMade(pods, index)
	for _, pod := range pods {
		job, refused := 0, s.otherNamespace(pod)
		if anyClaimed || len(s.Jobs) != 1 {
			job, refused = s.jobOf(pod, index)
		}
		if refused != nil {
			refuse(pod, refused)
		} else {
			found[job] = append(found[job], pod)
		}
	}
	return found, makers
}

// refusal says why a Pod belongs to no Job, and because of which field of the Pod.
type refusal struct{ field, why string }

// otherNamespace refuses a Pod that says that it is in another namespace than the first Job says.
func (s *Set) otherNamespace(pod Pod) *refusal {
	if len(s.Jobs) == 0 {
		return nil
	}
	job := s.Jobs[0].Object
	if pod.Object.Namespace == "" || job.Namespace == "" || pod.Object.Namespace == job.Namespace {
		return nil
	}
	return &refusal{"metadata.namespace", "the only Job is in namespace " + job.Namespace}
}

// jobOf returns the index of the Pod's Job, or why the Pod has none.
func (s *Set) jobOf(pod Pod, index map[Reference]int) (int, *refusal) {
	claim, says := ClaimOf(pod.Object)
	job, there := index[Reference{pod.Reference().Namespace, claim.Name}]
	if same, known := s.byUID[claim.UID]; known && s.Jobs[same].Reference() == (Reference{pod.Reference().Namespace, claim.Name}) {
		return same, nil
	}
	switch {
	case !says && len(s.Jobs) == 1:
		return 0, &refusal{"metadata.name", messageUnclaimed + ", and other pods of the input have"}
	case !says:
		return 0, &refusal{"metadata.name", fmt.Sprintf("%s, and the input has %d Jobs", messageUnclaimed, len(s.Jobs))}
	case !there:
		return 0, elsewhere(pod.Object)
	case !claim.Fits(s.Jobs[job].Object):
		refused := elsewhere(pod.Object)
		refused.why = fmt.Sprintf("its controller is Job %q with uid %s, but that of the input has uid %s", claim.Name, claim.UID, s.Jobs[job].Object.UID)
		return 0, refused
	}
	return job, nil
}

// messageUnclaimed is of a Pod that does not say whose it is.
const messageUnclaimed = "it has neither a controller nor a label job-name"

// elsewhere refuses a Pod whose controller or label names something that is not in the input.
func elsewhere(pod *corev1.Pod) *refusal {
	for i, owner := range pod.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			return &refusal{
				fmt.Sprintf("metadata.ownerReferences[%d]", i), fmt.Sprintf("its controller is %s %s %q", owner.APIVersion, owner.Kind, owner.Name),
			}
		}
	}
	value, label := jobNameLabel(pod)
	return &refusal{"metadata.labels[" + label + "]", fmt.Sprintf("its label %s says %q", label, value)}
}

// jobNameLabel returns the Job that a label names, and the label.
func jobNameLabel(pod *corev1.Pod) (value, label string) {
	for _, label := range jobNameLabels {
		if value, ok := pod.Labels[label]; ok {
			return value, label
		}
	}
	return "", ""
}
