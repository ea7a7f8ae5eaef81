package upstream

import (
	"context"
	_ "unsafe" // for go:linkname

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/pkg/controller/job" // holds the matcher

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// matchPodFailurePolicy is upstream's, see pkg/controller/job/pod_failure_policy.go:
// the message of a FailJob rule, whether the failure counts, and the action of
// the rule that matched, nil when none did.
//
//go:linkname matchPodFailurePolicy k8s.io/kubernetes/pkg/controller/job.matchPodFailurePolicy
func matchPodFailurePolicy(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (*string, bool, *batchv1.PodFailurePolicyAction)

var _ conformance.Engine = Matcher

// Matcher is the engine of the Job controller, as of the Kubernetes version of the
// request. The phase gate is ours: upstream has it in the matcher's callers.
// Every other part of the verdict is upstream's answer, and an answer that does
// not fit together is an error.
func Matcher(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
	policy, err := asOf(r.Kubernetes, r.Policy)
	if err != nil {
		return runtime.Verdict{}, err
	}
	return ask(policy, r.Pod)
}

// failed is the gate: a pod without a phase is judged as a failed one.
func failed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == ""
}

// ask makes a verdict of upstream's answers.
func ask(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (runtime.Verdict, error) {
	if !failed(pod) {
		return runtime.NotTerminal(pod), nil
	}
	message, counted, action := matchPodFailurePolicy(policy, pod)
	if action == nil {
		v := runtime.Unmatched(pod)
		if message != nil || counted != v.Counted {
			return runtime.Verdict{}, contradiction("no action, but message %q, counted %v", text(message), counted)
		}
		return v, nil
	}
	testimony, _, _ := matchPodFailurePolicy(witness(policy), pod)
	v, err := read(text(testimony), policy, pod)
	switch {
	case err != nil:
		return runtime.Verdict{}, err
	case v.Action != *action || v.Counted != counted:
		return runtime.Verdict{}, contradiction("action %s, counted %v, but the witness says %q", *action, counted, text(testimony))
	case message != nil && v.Message() != *message:
		return runtime.Verdict{}, otherMessage(*message, v.Message())
	}
	return v, nil
}

// witness returns the policy with the action FailJob in every rule whose action
// upstream would act on.
func witness(policy *batchv1.PodFailurePolicy) *batchv1.PodFailurePolicy {
	w := &batchv1.PodFailurePolicy{Rules: append([]batchv1.PodFailurePolicyRule(nil), policy.Rules...)}
	for i := range w.Rules {
		if actsOn(w.Rules[i].Action) {
			w.Rules[i].Action = batchv1.PodFailurePolicyActionFailJob
		}
	}
	return w
}

func actsOn(action batchv1.PodFailurePolicyAction) bool {
	switch action {
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionCount:
		return true
	default:
		return false
	}
}

// text is what s points to, or nothing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
