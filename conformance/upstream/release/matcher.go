package release

import (
	_ "unsafe" // for go:linkname

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/pkg/controller/job" // holds the matcher
)

// Match calls upstream's matchPodFailurePolicy, see pkg/controller/job/pod_failure_policy.go. It returns the message of a
// FailJob rule, whether the failure counts, and the action of the rule that matched, or nil if none did.
//
//go:linkname Match k8s.io/kubernetes/pkg/controller/job.matchPodFailurePolicy
func Match(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (*string, bool, *batchv1.PodFailurePolicyAction)

// Answer is the matcher's answer for a failed pod.
type Answer struct {
	// Action is the action of the rule that matched, or empty if none did.
	Action batchv1.PodFailurePolicyAction
	// Counted reports whether the failure counts.
	Counted bool
	// Sentence names the rule, and the container or the condition. Upstream has a sentence only for FailJob; otherwise it
	// is the witness's, and Borrowed is true.
	Sentence string
	Borrowed bool
}

// Ask queries the matcher about a pod. If the answer has no sentence, it queries again with the witness policy.
func Ask(policy, witness *batchv1.PodFailurePolicy, pod *corev1.Pod) Answer {
	message, counted, action := Match(policy, pod)
	a := Answer{Counted: counted}
	if action != nil {
		a.Action = *action
	}
	if message == nil && action != nil {
		message, _, _ = Match(witness, pod)
		a.Borrowed = true
	}
	if message != nil {
		a.Sentence = *message
	}
	return a
}
