package verdicts

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// notCounted returns why the Job controller does not count a failed Pod, whatever the rules, or "" (trackJobStatusAndRemoveFinalizers and
// deleteJobPods in upstream's job_controller.go). A Pod with the tracking finalizer does not count if the Job no longer has its index. A Pod
// without the finalizer was either counted or released without being counted; only a status without failures proves the latter.
func notCounted(job *batchv1.Job, pod *corev1.Pod) string {
	status := &job.Status
	if equality.Semantic.DeepEqual(*status, batchv1.JobStatus{}) || pod.UID == "" {
		return "" // a manifest
	}
	held := slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	indexed := ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion
	if err == nil && held && indexed && job.Spec.Completions != nil && index >= int(*job.Spec.Completions) {
		return fmt.Sprintf("the Job has no index %d any more", index)
	}
	uncounted := status.UncountedTerminatedPods
	if status.Failed > 0 || uncounted != nil && len(uncounted.Failed) > 0 || held {
		return ""
	}
	return "the Job controller had released it, because the Job was suspended, scaled down or has ended"
}

// countsEarly reports whether the Job controller counts a deleted Pod as failed before it ends: unless pods are only replaced when they have
// failed (onlyReplaceFailedPods in upstream's job_controller.go), which rules require.
func (p *Plan) countsEarly(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !p.bare() && p.Rules.None() &&
		ptr.Deref(p.Stored.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) != batchv1.Failed
}
