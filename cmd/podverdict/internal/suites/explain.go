package suites

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// explain returns the outcome of each rule for a Pod, in rule order.
func (j *judge) explain(ctx context.Context, in runtime.Input, audited bool) ([]runtime.RuleExplanation, error) {
	if !v1alpha1.Lives(v1alpha1.PhaseOf(in.Pod)) {
		e, err := j.program(audited).Explain(ctx, in)
		return e.Rules, err
	}
	rules, err := j.selection.ExplainLiving(ctx, in)
	v, _ := j.verdict(ctx, in, audited)
	for i := range rules {
		if r := &rules[i]; v.Matched && v.Policy == r.Policy && v.Rule == r.Rule {
			r.Outcome = runtime.OutcomeMatched // even after a rule whose binding ends no Pod
		}
	}
	return rules, err
}

// asked returns the rules that are evaluated for a Pod, in order. It includes rules after the one that decides.
func (j *judge) asked(c *CaseResult, audited bool) []ruleID {
	var before, after []ruleID
	phase := v1alpha1.PhaseOf(c.trial.pod.Object)
	for _, f := range j.order {
		if !f.counts(phase, c.Ended, audited) || phase == corev1.PodFailed && !audited && !j.carriesOutPolicies() {
			continue
		}
		ids := &before
		if f.binding.Spec.Position == v1alpha1.PositionAfter {
			ids = &after
		}
		for i := range f.policy.Rules {
			if f.policy.Rules[i].Phase == phase {
				*ids = append(*ids, ruleID{f.policy.Name, i, f.policy.Rules[i].Name})
			}
		}
	}
	if phase == corev1.PodFailed {
		for i := range ownRules(j.policy) {
			before = append(before, ruleID{Rule: i})
		}
	}
	return append(before, after...)
}

// carriesOutPolicies reports whether the Job's controller enforces custom policies.
func (j *judge) carriesOutPolicies() bool { return j.effect.Enforced }

// counts reports whether a policy's rules are evaluated. Only some bindings end living Pods.
func (f inForce) counts(phase corev1.PodPhase, ended, audited bool) bool {
	audits := f.binding.Spec.Mode == v1alpha1.ModeAudit && !audited
	if !v1alpha1.Lives(phase) {
		return !audits
	}
	return !ended || !audits && f.binding.Spec.Ends(phase)
}
