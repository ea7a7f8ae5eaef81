package release

import (
	_ "unsafe" // for go:linkname

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/pkg/controller/job" // holds the matcher
)

// Match calls upstream's matchPodFailurePolicy, see pkg/controller/job/pod_failure_policy.go:
// the message of a FailJob rule, whether the failure counts, and the action of
// the rule that matched, nil when none did.
//
//go:linkname Match k8s.io/kubernetes/pkg/controller/job.matchPodFailurePolicy
func Match(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (*string, bool, *batchv1.PodFailurePolicyAction)

// Answer is what the matcher says of a failed pod.
type Answer struct {
	// Action is that of the rule that matched, empty when none did.
	Action batchv1.PodFailurePolicyAction
	// Counted says whether the failure counts.
	Counted bool
	// Sentence names the rule, and the container or the condition. Upstream has one for FailJob only; otherwise it is that of
	// the witness, and Borrowed is true.
	Sentence string
	Borrowed bool
}

// Ask asks the matcher about a pod, and if its answer has no sentence, again with another policy, the witness.
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
