package life

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Facts describe the Job and its pods at a checkpoint in a form common to all controllers: without times, and with pods
// named as in steps.
type Facts struct {
	// Job is empty, deleting or gone.
	Job string `json:"job,omitempty"`
	// Status is the status of the Job, or nil if the Job is gone.
	Status *Status `json:"status,omitempty"`
	// Pods has the states of all pods that ever existed: a phase, possibly with "terminating" added, or gone.
	Pods map[string]string `json:"pods,omitempty"`
	// Held lists the pods that still have the finalizer although the Job has ended. It is empty before the end.
	Held []string `json:"held,omitempty"`
	// Details has the details of existing pods that the step requests.
	Details map[string]PodDetails `json:"details,omitempty"`
}

// Status is the comparable part of a batchv1.JobStatus.
type Status struct {
	Conditions []Condition `json:"conditions,omitempty"`
	// Started is true if the status has a start time, Completed if it has a completion time.
	Started   bool `json:"started,omitempty"`
	Completed bool `json:"completed,omitempty"`

	Active      int32  `json:"active,omitempty"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded,omitempty"`
	Failed      int32  `json:"failed,omitempty"`

	CompletedIndexes string  `json:"completedIndexes,omitempty"`
	FailedIndexes    *string `json:"failedIndexes,omitempty"`
	// Uncounted is the number of pods in uncountedTerminatedPods.
	Uncounted int `json:"uncounted,omitempty"`
}

// Condition is the comparable part of a batchv1.JobCondition. In its message, {2/1} replaces namespace and name of the
// pod 2/1.
type Condition struct {
	Type    batchv1.JobConditionType `json:"type"`
	Status  corev1.ConditionStatus   `json:"status"`
	Reason  string                   `json:"reason,omitempty"`
	Message string                   `json:"message,omitempty"`
}

// PodDetails has parts of a pod that the controller sets.
type PodDetails struct {
	Annotations map[string]string          `json:"annotations,omitempty"`
	Labels      map[string]string          `json:"labels,omitempty"`
	Hostname    string                     `json:"hostname,omitempty"`
	Env         map[string][]corev1.EnvVar `json:"env,omitempty"` // by container
	Owner       *metav1.OwnerReference     `json:"owner,omitempty"`
}

// finished reports whether the Job has a terminal condition.
func (s *Status) finished() bool {
	return s != nil && slices.ContainsFunc(s.Conditions, func(c Condition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// factsOf describes a Job, which is nil if it is gone, and its pods.
func factsOf(job *batchv1.Job, pods []*observedPod, asked []Detail) Facts {
	facts := Facts{Pods: map[string]string{}}
	switch {
	case job == nil:
		facts.Job = "gone"
	case job.DeletionTimestamp != nil:
		facts.Job = "deleting"
	}
	if job != nil {
		facts.Status = statusOf(&job.Status, pods)
	}
	for _, pod := range pods {
		name := pod.of.String()
		facts.Pods[name] = stateOf(pod)
		if pod.gone {
			continue
		}
		if (job == nil || facts.Status.finished()) && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			facts.Held = append(facts.Held, name)
		}
		if len(asked) > 0 {
			if facts.Details == nil {
				facts.Details = map[string]PodDetails{}
			}
			facts.Details[name] = detailsOf(pod.Pod, asked)
		}
	}
	return facts
}

func stateOf(pod *observedPod) string {
	switch {
	case pod.gone:
		return "gone"
	case pod.DeletionTimestamp != nil:
		return string(pod.Status.Phase) + ", terminating"
	default:
		return string(pod.Status.Phase)
	}
}

func statusOf(status *batchv1.JobStatus, pods []*observedPod) *Status {
	s := &Status{
		Started: status.StartTime != nil, Completed: status.CompletionTime != nil,
		Active: status.Active, Ready: status.Ready, Terminating: status.Terminating,
		Succeeded: status.Succeeded, Failed: status.Failed,
		CompletedIndexes: status.CompletedIndexes, FailedIndexes: status.FailedIndexes,
	}
	if uncounted := status.UncountedTerminatedPods; uncounted != nil {
		s.Uncounted = len(uncounted.Succeeded) + len(uncounted.Failed)
	}
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name, "{"+pod.of.String()+"}")
	}
	anonymous := strings.NewReplacer(names...)
	for _, c := range status.Conditions {
		if strings.Contains(string(c.Type), "/") {
			continue // a controller may have its own conditions, prefixed with a domain
		}
		s.Conditions = append(s.Conditions, Condition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: anonymous.Replace(c.Message),
		})
	}
	return s
}

func detailsOf(pod *corev1.Pod, asked []Detail) PodDetails {
	var d PodDetails
	for _, detail := range asked {
		switch detail {
		case DetailAnnotations:
			d.Annotations = map[string]string{}
			for key, value := range pod.Annotations {
				if strings.HasPrefix(key, "batch.kubernetes.io/") {
					d.Annotations[key] = value
				}
			}
		case DetailLabels:
			d.Labels = labelsOf(pod)
		case DetailHostname:
			d.Hostname = pod.Spec.Hostname
		case DetailEnv:
			d.Env = map[string][]corev1.EnvVar{}
			for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
				d.Env[c.Name] = c.Env
			}
		case DetailOwner:
			if owner := metav1.GetControllerOf(pod); owner != nil {
				d.Owner = owner.DeepCopy()
				d.Owner.UID = "uid"
			}
		}
	}
	return d
}

// labelsOf returns the pod's labels except those that only podverdict sets, with the UID of its Job replaced.
func labelsOf(pod *corev1.Pod) map[string]string {
	labels := map[string]string{}
	owner := metav1.GetControllerOf(pod)
	for key, value := range pod.Labels {
		if strings.HasPrefix(key, "podverdict.io/") {
			continue
		}
		if owner != nil && value == string(owner.UID) {
			value = "uid"
		}
		labels[key] = value
	}
	return labels
}

// TestWhatIsLeftBehind tests Held and Uncounted, which no life shows, because no controller should leave anything behind.
func TestWhatIsLeftBehind(t *testing.T) {
	pods := []*observedPod{{of: Pod{Slot: 2, Attempt: 1}, Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{batchv1.JobTrackingFinalizer}}}}}
	job := &batchv1.Job{Status: batchv1.JobStatus{
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a", "b"}, Succeeded: []types.UID{"c"}},
		Conditions:              []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}},
	}}
	working := factsOf(job, pods, nil)
	job.Status.Conditions[0].Type = batchv1.JobFailed
	ended, gone := factsOf(job, pods, nil), factsOf(nil, pods, nil)
	if working.Held != nil || working.Status.Uncounted != 3 {
		t.Errorf("a Job at work: %+v", working)
	}
	if held := []string{"2/1"}; !slices.Equal(ended.Held, held) || !slices.Equal(gone.Held, held) {
		t.Errorf("a Job that has ended: %+v; one that is gone: %+v", ended, gone)
	}
}
