package manifest

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Claim identifies the Job, in the Pod's namespace, that a Pod belongs to.
type Claim struct {
	Name string
	// UID is "" if the claim comes from a label, or from a controller without uid in a file.
	UID types.UID
}

// ClaimOf returns the Job that controls a Pod, or else the Job in its job-name label. If another kind of object controls the Pod,
// the name is empty. The second result is false for a Pod with neither.
func ClaimOf(pod *corev1.Pod) (claim Claim, says bool) {
	owner := metav1.GetControllerOfNoCopy(pod)
	switch value, label := JobNameLabel(pod); {
	case owner == nil:
		return Claim{Name: value}, label != ""
	case !isJob(owner):
		return Claim{}, true
	}
	return Claim{owner.Name, owner.UID}, true
}

// Fits reports whether the claim matches a Job. A Job of the same name with another uid does not match; a Job that was never in a
// cluster has no uid.
func (c Claim) Fits(job *batchv1.Job) bool {
	return c.Name == job.Name && (c.UID == "" || job.UID == "" || c.UID == job.UID)
}

func isJob(owner *metav1.OwnerReference) bool {
	group, _ := schema.ParseGroupVersion(owner.APIVersion)
	return owner.Kind == "Job" && group.Group == batchv1.GroupName
}

// jobNameLabels are the labels that the Job controller sets on Pods, the current one first.
var jobNameLabels = [...]string{batchv1.JobNameLabel, "job-name"}

// JobNameLabel returns the Job named in a Pod's label, and the label; both are empty without such a label.
func JobNameLabel(pod *corev1.Pod) (value, label string) {
	for _, label := range jobNameLabels {
		if value, ok := pod.Labels[label]; ok {
			return value, label
		}
	}
	return "", ""
}
