package runtime

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// PodCondition returns the condition that stores a verdict on a pod in phase Pending. A pod deleted because of the verdict
// has the condition until it is gone, and Judge reads the rule from it when the pod has ended in phase Failed.
func (v Verdict) PodCondition() corev1.PodCondition {
	return corev1.PodCondition{
		Type: v1alpha1.FailingToStart, Status: corev1.ConditionTrue,
		Reason: cmp.Or(v.Reason, v1alpha1.ReasonPendingRule), Message: v.Message(),
	}
}

// FailingToStart returns the condition that a rule on Pending has set on the pod, or nil if there is none or it was
// withdrawn.
func FailingToStart(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == v1alpha1.FailingToStart && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// ending is a rule on Pending because of which a pod was deleted.
type ending struct {
	policy *Policy
	rule   *rule
	// detail is what the rule's messageExpression returned then.
	detail string
}

// ended returns the rule on Pending because of which a failed pod was deleted, by the name in the pod's condition. The
// failure means what that rule says now, whatever other rules say. If the rule is gone, or PodCondition did not write the
// condition, the pod is treated like any other.
func (p *Program) ended(pod *corev1.Pod) (e ending, found bool) {
	if len(p.policies) == 0 || len(p.policies) == 1 && p.policies[0].own != nil {
		return ending{}, false
	}
	condition := FailingToStart(pod)
	if condition == nil {
		return ending{}, false
	}
	policy, rule, said := parsePending(pod, condition.Message)
	for _, c := range p.policies {
		if at := c.pendingRule(rule); c.Name == policy && at != nil {
			return ending{c, at, c.detail(at, condition.Reason, said)}, true
		}
	}
	return ending{}, false
}

// pendingRule returns the named rule on Pending, or nil.
func (p *Policy) pendingRule(name string) *rule {
	for i := range p.onPending {
		if p.Rules[p.onPending[i].number].Name == name {
			return &p.onPending[i]
		}
	}
	return nil
}

// detail removes the reason, which may have changed since, from the stored text.
func (p *Policy) detail(rule *rule, reason, said string) string {
	if reason == v1alpha1.ReasonPendingRule && p.Rules[rule.number].Reason != reason {
		return said // the rule had no reason
	}
	if rest, found := strings.CutPrefix(said, reason); found {
		return strings.TrimPrefix(rest, ": ")
	}
	return said
}

func (e ending) verdict(pod *corev1.Pod) Verdict {
	return e.policy.verdict(pod, &match{rule: e.rule, message: e.detail})
}

// explanation explains a rule on Pending, which is not among the rules tried on a failed pod.
func (e ending) explanation() RuleExplanation {
	rule := &e.policy.Rules[e.rule.number]
	return RuleExplanation{
		Rule: e.rule.number, Policy: e.policy.Name, RuleName: rule.Name, Action: rule.Action, Holds: true,
		Because: "the pod was deleted because of it while it was Pending", Expression: rule.When,
		Elements: []ElementExplanation{{
			Kind: "condition", Name: string(v1alpha1.FailingToStart), Observed: string(corev1.ConditionTrue), Matched: true,
		}},
	}
}

// parsePending parses a message that customMessage has written for a rule on Pending; said is the text after the names. For
// other messages, all results are empty.
func parsePending(pod *corev1.Pod, message string) (policy, rule, said string) {
	rest, known := strings.CutPrefix(message, "Pod "+pod.Namespace+"/"+pod.Name+" matching ")
	if !known {
		return "", "", ""
	}
	_, rest, _ = strings.Cut(rest, " rule ")
	rule, rest, _ = strings.Cut(rest, " of PodFailurePolicy ")
	policy, said, _ = strings.Cut(rest, ": ")
	return policy, rule, said
}
