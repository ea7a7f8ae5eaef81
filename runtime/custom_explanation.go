package runtime

import (
	"context"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/compiler/custom/library"
)

// addCustom explains the rules of custom policies that are about the pod's phase.
func (e *Explanation) addCustom(ctx context.Context, in custom.Input, policies []*CustomPolicy) error {
	for _, c := range policies {
		rules, err := c.Explain(ctx, in)
		if err != nil {
			return err
		}
		e.Rules = append(e.Rules, rules...)
	}
	return nil
}

// Explain says what each rule that is about the pod's phase makes of it. Outcomes are
// left to who knows the rules before them. The error is that of a context which is
// done.
func (c *CustomPolicy) Explain(ctx context.Context, in custom.Input) ([]RuleExplanation, error) {
	if c.failed != nil {
		return c.explainFailing(in.Pod), nil //nolint:nilerr // its explanation tells it
	}
	explained, err := c.Compiled.Explain(ctx, in)
	if err != nil {
		return nil, err
	}
	rules := make([]RuleExplanation, len(explained))
	for i := range explained {
		rules[i] = c.explanation(&explained[i])
	}
	return rules, nil
}

// explainFailing says of each rule about the pod's phase that it was not evaluated.
func (c *CustomPolicy) explainFailing(pod *corev1.Pod) []RuleExplanation {
	var rules []RuleExplanation
	for i := range c.Rules {
		if r := &c.Rules[i]; r.Phase == pod.Status.Phase {
			rules = append(rules, RuleExplanation{
				Rule: i, Policy: c.Name, RuleName: r.Name, Action: r.Action, Expression: r.When,
				Because: "a match condition of the policy could not be evaluated", Error: c.failed.Error(),
			})
		}
	}
	return rules
}

// ConditionExplanation is what a match condition of a custom policy makes of a Job.
type ConditionExplanation struct {
	// Field is the path in the policy, as in spec.matchConditions[0].expression.
	Field      string `json:"field"`
	Expression string `json:"expression"`
	Holds      bool   `json:"holds"`
	// Because is the reason, as a sentence.
	Because string `json:"because"`
	// Values are the parts of the expression, as those of a rule.
	Values []Value `json:"values,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// ExplainConditions says what each match condition makes of a Job. The error is that
// of a context which is done.
func (c *CustomPolicy) ExplainConditions(ctx context.Context, job *batchv1.Job) ([]ConditionExplanation, error) {
	explained, err := c.Compiled.ExplainConditions(ctx, job)
	if err != nil {
		return nil, err
	}
	conditions := make([]ConditionExplanation, len(explained))
	for i := range explained {
		x := &explained[i]
		conditions[i] = ConditionExplanation{
			Field: x.Field, Expression: x.Expression, Holds: x.Holds, Because: customBecause(x), Values: values(x.Values),
		}
		if x.Err != nil {
			conditions[i].Error = c.policyError(x.Err).Error()
		}
	}
	return conditions, nil
}

func (c *CustomPolicy) explanation(x *custom.Explanation) RuleExplanation {
	rule := &c.Rules[x.Rule]
	e := RuleExplanation{
		Rule: x.Rule, Policy: c.Name, RuleName: rule.Name, Action: rule.Action, Holds: x.Holds, Because: customBecause(x),
		Expression: rule.When, Cost: x.Cost, Values: values(x.Values), Omitted: x.Omitted,
	}
	for _, element := range x.Elements {
		e.Elements = append(e.Elements, ElementExplanation{
			Kind: kind(element.Kind), Name: element.Name, Observed: element.Observed, Matched: element.Matched,
			Values: values(element.Values),
		})
	}
	if x.Err != nil {
		e.Error, e.Ignored = c.policyError(x.Err).Error(), c.FailurePolicy != v1alpha1.FailurePolicyFail
	}
	return e
}

func kind(k library.Kind) string {
	if k == library.KindInit {
		return "initContainer"
	}
	return string(k)
}

func values(from []custom.Value) []Value {
	var to []Value
	for _, v := range from {
		to = append(to, Value(v))
	}
	return to
}

// customBecause is the reason as a sentence, from the parts of the expression.
func customBecause(x *custom.Explanation) string {
	switch {
	case x.Err != nil:
		return "the expression could not be evaluated"
	case x.Holds:
		return "the expression is true"
	}
	var parts []string
	for _, v := range x.Decisive {
		parts = append(parts, shortened(v.Expression)+" is "+v.Value)
	}
	if len(parts) == 0 || len(parts) > maxParts {
		return "the expression is false"
	}
	return strings.Join(parts, ", and ")
}

// maxParts is how many parts of an expression are part of a sentence.
const maxParts = 3

// maxBecause is how many characters of an expression are part of a sentence.
const maxBecause = 120

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxBecause {
		return text
	}
	return string(runes[:maxBecause]) + "..."
}

// ruleSubject names a rule as people would.
func ruleSubject(policy, name string, index int) string {
	if policy == "" {
		return "rule " + strconv.Itoa(index)
	}
	return "rule " + name + " of " + policy
}

// Subject names the rule: by its index in the Job's own podFailurePolicy, or by its
// name and its policy's.
func (r RuleExplanation) Subject() string { return ruleSubject(r.Policy, r.RuleName, r.Rule) }
