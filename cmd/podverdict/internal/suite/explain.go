package suite

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// explain says what each rule makes of a Pod, in their order.
func (j *judge) explain(ctx context.Context, in custom.Input, audited bool) ([]runtime.RuleExplanation, error) {
	if in.Pod.Status.Phase != corev1.PodPending {
		e, err := j.program(audited).Explain(ctx, in)
		return e.Rules, err
	}
	v, _ := j.verdict(ctx, in, audited)
	var all []runtime.RuleExplanation
	decided := false
	for _, f := range j.order {
		rules, err := f.policy.Explain(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			r.Outcome = runtime.OutcomeNotMatched
			switch {
			case decided:
				r.Outcome = runtime.OutcomeNotReached
			case v.Matched && v.Policy == r.Policy && v.Rule == r.Rule:
				r.Outcome, decided = runtime.OutcomeMatched, true
			case v.Err != nil && r.Error != "":
				r.Outcome, decided = runtime.OutcomeError, true
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// asked are the policies that are asked about a Pod, in their order; nil stands for the Job's own rules.
func (j *judge) asked(c *CaseResult, audited bool) []*runtime.CustomPolicy {
	pending := c.trial.input.Pod.Status.Phase == corev1.PodPending
	var all []*runtime.CustomPolicy
	own := pending
	for _, f := range j.order {
		if !own && f.binding.Spec.Position == v1alpha1.PositionAfter {
			all, own = append(all, nil), true
		}
		switch {
		case c.Deleted && f.binding.Spec.PendingPods != v1alpha1.PendingPodsDelete:
		case (c.Deleted || !pending) && !audited && f.binding.Spec.Mode == v1alpha1.ModeAudit:
		default:
			all = append(all, f.policy)
		}
	}
	if !own {
		all = append(all, nil)
	}
	return all
}
