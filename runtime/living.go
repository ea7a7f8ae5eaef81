package runtime

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// PodCondition returns the condition that stores a verdict on a living pod. A pod that is ended because of the verdict keeps the
// condition until it is gone, and Judge reads the rule from it when the pod is in phase Failed.
func (p *Policy) PodCondition(v Verdict) corev1.PodCondition {
	rule := &p.Rules[v.Rule]
	return corev1.PodCondition{
		Type: rule.ConditionType(), Status: corev1.ConditionTrue, Reason: rule.ConditionReason(), Message: v.customMessage(),
	}
}

// EndedBy returns the condition that a rule on living pods has set on the pod, or nil if there is none or it was withdrawn.
func EndedBy(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Status == corev1.ConditionTrue && EndsBy(pod, c) {
			return c
		}
	}
	return nil
}

// EndsBy reports whether PodCondition wrote a condition of the pod. The condition may have been withdrawn since.
func EndsBy(pod *corev1.Pod, c *corev1.PodCondition) bool {
	if !strings.HasPrefix(c.Message, "Pod ") { // most conditions have no message
		return false
	}
	policy, _, _ := parseCondition(pod, c.Message)
	return policy != ""
}

// Due returns the first time after now at which a rule on living pods may start or stop matching an unchanged pod. It is zero if
// there is none. If polled is true, that may happen at any time.
func (p *Policy) Due(pod *corev1.Pod, now time.Time) (next time.Time, polled bool) {
	phase := v1alpha1.PhaseOf(pod)
	for i := range p.Compiled.Rules {
		rule := &p.Compiled.Rules[i]
		if rule.Phase != phase {
			continue
		}
		polled = polled || rule.Due.Polled
		next = Earliest(next, rule.Due.Next(pod, now))
	}
	return next, polled
}

// Earliest returns the earlier of two times. A zero time means never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ending is a rule on living pods because of which a pod was ended.
type ending struct {
	policy *Policy
	rule   *rule
	// detail is the stored result of the rule's messageExpression.
	detail string
}

// ended returns the rule because of which a failed pod was ended, by the name in the pod's condition. The current definition of
// that rule decides about the failure, and no other rule does. If the rule no longer exists, or PodCondition did not write the
// condition, the pod is treated like any other.
func (p *Program) ended(pod *corev1.Pod) (e ending, found bool) {
	if len(p.policies) == 0 || len(p.policies) == 1 && p.policies[0].own != nil {
		return ending{}, false
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Status != corev1.ConditionTrue || !EndsBy(pod, condition) {
			continue
		}
		policy, rule, said := parseCondition(pod, condition.Message)
		for _, c := range p.policies {
			if at := c.livingRule(rule, condition.Type); c.Name == policy && at != nil {
				return ending{c, at, c.detail(at, condition.Reason, said)}, true
			}
		}
	}
	return ending{}, false
}

// livingRule returns the named rule on living pods, or nil if none sets a condition of the type.
func (p *Policy) livingRule(name string, condition corev1.PodConditionType) *rule {
	for _, rules := range p.onLiving {
		for i := range rules {
			if r := &p.Rules[rules[i].number]; r.Name == name && r.ConditionType() == condition {
				return &rules[i]
			}
		}
	}
	return nil
}

// detail removes the reason, which may have changed since, from the stored text.
func (p *Policy) detail(rule *rule, reason, said string) string {
	if r := p.Rules[rule.number]; r.Reason == "" && reason == r.ConditionReason() {
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

// explanation explains the rule, which is not one of the rules tried on a failed pod.
func (e ending) explanation() RuleExplanation {
	rule := &e.policy.Rules[e.rule.number]
	return RuleExplanation{
		Rule: e.rule.number, Policy: e.policy.Name, RuleName: rule.Name, Action: rule.Action, Holds: true,
		Because: "the pod was ended because of it while it was " + string(rule.Phase), Expression: rule.When,
		Elements: []ElementExplanation{{
			Kind: "condition", Name: string(rule.ConditionType()), Observed: string(corev1.ConditionTrue), Matched: true,
		}},
	}
}

// parseCondition parses a message that customMessage wrote for a rule on living pods; said is the text after the names. For
// other messages, all results are empty.
func parseCondition(pod *corev1.Pod, message string) (policy, rule, said string) {
	rest, known := strings.CutPrefix(message, "Pod "+pod.Namespace+"/"+pod.Name+" matching ")
	if !known {
		return "", "", ""
	}
	_, rest, _ = strings.Cut(rest, " rule ")
	rule, rest, _ = strings.Cut(rest, " of PodFailurePolicy ")
	policy, said, _ = strings.Cut(rest, ": ")
	return policy, rule, said
}
