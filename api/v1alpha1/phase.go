package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PhaseTerminating is the phase, for rules, of a pod that is to be deleted and has not ended. Kubernetes has no such phase:
// kubectl shows the word.
const PhaseTerminating corev1.PodPhase = "Terminating"

// LivingPhases are the phases of pods that have not ended.
var LivingPhases = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, PhaseTerminating}

// PhaseOf returns the phase of a pod for rules: the one in its status, or PhaseTerminating.
func PhaseOf(pod *corev1.Pod) corev1.PodPhase {
	phase := pod.Status.Phase
	if pod.DeletionTimestamp != nil && phase != corev1.PodSucceeded && phase != corev1.PodFailed {
		return PhaseTerminating
	}
	return phase
}

// Lives reports whether pods of a phase have not ended.
func Lives(phase corev1.PodPhase) bool {
	return phase == corev1.PodPending || phase == corev1.PodRunning || phase == PhaseTerminating
}
