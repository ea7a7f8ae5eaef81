package runtime

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Evaluate is Judge for a pod of which nothing else is known. Rules of the Job's own
// podFailurePolicy need nothing else.
func (p *Program) Evaluate(ctx context.Context, pod *corev1.Pod) Verdict {
	return p.Judge(ctx, Input{Pod: pod, Attempt: 1})
}

// Judge says what the pod's failure means. Rules are tried in order and the
// first one that matches decides (KEP-3329, "Evaluation"); only a pod in phase
// Failed is judged. The pod is read, never copied or converted.
//
// The failure of a pod that was deleted because of a rule on Pending means what that
// rule says: no other is tried (Verdict.PodCondition).
//
// A rule of a custom policy that cannot be evaluated does not match, and Err says so in
// whatever the verdict is, if the policy's failurePolicy is Ignore. If it is Fail, or if
// the context is done, that ends the evaluation, as does a rule of the Job's own that
// cannot be evaluated: the verdict is that of no match, with Err set. Rules after it are
// not tried: they might say what a rule before them is there to prevent.
func (p *Program) Judge(ctx context.Context, in Input) Verdict {
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
		if policy.own != nil && policy.own.finds {
			r, element := policy.find(&in.Pod.Status)
			switch {
			case element.Container != nil:
				return MatchedExitCode(in.Pod, r.number, r.action, element.Container).with(ignored)
			case element.Condition != nil:
				return MatchedCondition(in.Pod, r.number, r.action, element.Condition).with(ignored)
			}
			continue
		}
		m := policy.match(ctx, in)
		if ignored == nil {
			ignored = policy.told(m.ignored)
		}
		switch {
		case m.err != nil:
			return Failure(in.Pod, policy.told(m.err))
		case m.rule != nil:
			return policy.verdict(in.Pod, &m).with(ignored)
		}
	}
	return Unmatched(in.Pod).with(ignored)
}

// with is the verdict after a rule whose error was ignored.
func (v Verdict) with(ignored error) Verdict {
	v.Err = ignored
	return v
}

// verdict is that of the rule that matches.
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
