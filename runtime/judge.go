package runtime

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Evaluate evaluates a pod without a Job, as attempt 1. This is enough for the rules of a podFailurePolicy.
func (p *Program) Evaluate(ctx context.Context, pod *corev1.Pod) Verdict {
	return p.Judge(ctx, Input{Pod: pod, Attempt: 1})
}

// Judge returns what the pod's failure means. Rules are tried in order, and the first one that matches decides (KEP-3329,
// "Evaluation"). A pod in any phase but Failed gets the verdict of NotTerminal. The pod is not copied or converted.
//
// If the pod was ended because of a rule on living pods, that rule decides, and no other is tried (Policy.PodCondition).
//
// If a rule of a custom policy has an error and the policy's failurePolicy is Ignore, the rule does not match, and the
// verdict's Err is the first such error. If the failurePolicy is Fail, if the rule is the Job's own, or if the context is
// done, an error ends the evaluation: the verdict is the one for no match, with Err set. No later rule is tried, because the
// rule with the error may be intended to keep later rules from deciding.
func (p *Program) Judge(ctx context.Context, in Input) (v Verdict) {
	if in.Pod.Status.Phase != corev1.PodFailed {
		return NotTerminal(in.Pod)
	}
	if ctx.Err() != nil {
		return Failure(in.Pod, context.Cause(ctx))
	}
	if e, found := p.ended(in.Pod); found {
		return e.verdict(in.Pod)
	}
	var ignored error
	for _, policy := range p.policies {
		var m match
		if policy.finds {
			m.rule, m.element = policy.find(&in.Pod.Status)
		} else {
			m = policy.match(ctx, in)
		}
		if ignored == nil {
			ignored = policy.told(m.ignored)
		}
		if m.err != nil {
			return Failure(in.Pod, policy.told(m.err))
		}
		if m.rule != nil {
			v = policy.verdict(in.Pod, &m)
			v.Err = ignored
			return v
		}
	}
	v = Unmatched(in.Pod)
	v.Err = ignored
	return v
}

// verdict returns the verdict of the rule that matches.
func (p *Policy) verdict(pod *corev1.Pod, m *match) Verdict {
	switch rule := m.rule; {
	case p.own == nil:
		return p.customVerdict(pod, m)
	case m.element.Container != nil:
		return MatchedExitCode(pod, rule.number, rule.action, m.element.Container)
	default:
		return MatchedCondition(pod, rule.number, rule.action, m.element.Condition)
	}
}
