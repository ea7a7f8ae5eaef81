package upstream

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

var _ conformance.Engine = Matcher

// Matcher returns the verdict of the linked Job controller, as of the Kubernetes version of the request. The phase gate
// is ours: upstream has it in the matcher's callers. Every other part of the verdict is upstream's answer, and an
// inconsistent answer is an error.
func Matcher(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
	return controller{}.verdict(r)
}

// controller is the Job controller of a release.
type controller struct{ process *release.Process }

func (c controller) verdict(r conformance.Request) (runtime.Verdict, error) {
	policy, err := c.asOf(r.Kubernetes, r.Policy)
	if err != nil {
		return runtime.Verdict{}, err
	}
	return c.ask(policy, r.Pod)
}

// failed implements the gate: a pod without a phase is treated as failed.
func failed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == ""
}

// ask builds a verdict from upstream's answers.
func (c controller) ask(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) (runtime.Verdict, error) {
	if !failed(pod) {
		return runtime.NotTerminal(pod), nil
	}
	answer, err := c.process.Ask(policy, witness(policy), pod)
	if err != nil {
		return runtime.Verdict{}, err
	}
	if answer.Action == "" {
		v := runtime.Unmatched(pod)
		if answer.Sentence != "" || answer.Counted != v.Counted {
			return runtime.Verdict{}, contradiction("no action, but message %q, counted %v", answer.Sentence, answer.Counted)
		}
		return v, nil
	}
	v, err := read(answer.Sentence, policy, pod)
	switch {
	case err != nil:
		return runtime.Verdict{}, err
	case v.Action != answer.Action || v.Counted != answer.Counted:
		return runtime.Verdict{}, contradiction("action %s, counted %v, but the witness says %q", answer.Action, answer.Counted, answer.Sentence)
	case !answer.Borrowed && v.Message() != answer.Sentence:
		return runtime.Verdict{}, otherMessage(answer.Sentence, v.Message())
	}
	return v, nil
}

// witness returns the policy with the action FailJob in every rule whose action upstream would apply.
func witness(policy *batchv1.PodFailurePolicy) *batchv1.PodFailurePolicy {
	if policy == nil {
		return nil
	}
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
