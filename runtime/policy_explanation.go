package runtime

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Explain evaluates every rule on the pod's phase with CEL's interpreter, part by part. The caller sets the outcomes, because
// they depend on earlier rules. It returns an error if the context is done.
func (p *Policy) Explain(ctx context.Context, in Input) ([]RuleExplanation, error) {
	if p.failed != nil {
		return p.explainFailing(in.Pod), nil
	}
	rules := p.about(in.Pod)
	e := p.begin(ctx, in)
	defer e.end()
	var all []RuleExplanation
	for i := range rules {
		all = append(all, e.explain(&rules[i]))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // the explanation would be incomplete
	}
	return all, nil
}

// explainFailing returns explanations for a policy whose rules were not evaluated.
func (p *Policy) explainFailing(pod *corev1.Pod) []RuleExplanation {
	var all []RuleExplanation
	for _, r := range p.about(pod) {
		explained := p.explanation(&r)
		explained.Because, explained.Error = "a match condition of the policy could not be evaluated", p.failed.Error()
		all = append(all, explained)
	}
	return all
}

// explanation returns an explanation that only identifies the rule.
func (p *Policy) explanation(r *rule) RuleExplanation {
	e := RuleExplanation{Rule: r.number, Policy: p.Name, Action: r.action}
	if p.own == nil {
		e.RuleName, e.Expression = p.Rules[r.number].Name, p.Rules[r.number].When
	}
	return e
}

func (e *evaluation) explain(r *rule) RuleExplanation {
	explained := e.policy.explanation(r)
	said, err := e.explainExpression(r.when, &explained)
	if err != nil {
		err = e.policy.told(e.policy.evaluationError(r.when, err))
		explained.Error, explained.Ignored = err.Error(), e.policy.FailurePolicy != v1alpha1.FailurePolicyFail
	}
	explained.Because = said
	return explained
}

// explainExpression evaluates an expression and its parts, and returns the reason for its value as a sentence. It returns the
// expression's error.
func (e *evaluation) explainExpression(x *expression, explained *RuleExplanation) (because string, err error) {
	value, err := e.interpret(x)
	if e.interpreter != nil {
		explained.Cost, e.interpreter.spent = e.interpreter.spent, 0
	}
	explained.Holds = err == nil && value == types.True
	if err != nil {
		because = "the expression could not be evaluated"
	}
	if e.interpreter == nil {
		return because, err
	}
	unchecked := e.interpreter.explain(x, explained, map[string]bool{}, func(p *parts) {
		values := p.of(p.tree.Expr())
		switch {
		case p.match != nil && err == nil:
			explained.Expression = p.text(p.tree.Expr())
			because = e.policy.because(p.match, explained)
		case p.match != nil:
			explained.Expression, explained.Elements = p.text(p.tree.Expr()), nil
		default:
			explained.Values = values
			if err == nil {
				because = p.because(explained.Holds)
			}
		}
	})
	e.interpreter.spent = 0
	if err == nil {
		err = unchecked
	}
	return because, err
}

// ConditionExplanation is the result of a custom policy's match condition for a Job.
type ConditionExplanation struct {
	// Field is the path in the policy, such as spec.matchConditions[0].expression.
	Field      string `json:"field"`
	Expression string `json:"expression"`
	Holds      bool   `json:"holds"`
	// Because is the reason, as a sentence.
	Because string `json:"because"`
	// Values are the parts of the expression, as for a rule.
	Values []Value `json:"values,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// ExplainConditions evaluates each match condition for a Job. It returns an error if the context is done.
func (p *Policy) ExplainConditions(ctx context.Context, job *batchv1.Job) ([]ConditionExplanation, error) {
	e := p.begin(ctx, Input{Pod: &noPod, Job: job})
	defer e.end()
	var all []ConditionExplanation
	for _, x := range p.conditions {
		var explained RuleExplanation
		because, err := e.explainExpression(x, &explained)
		condition := ConditionExplanation{
			Field: x.of.Field, Expression: x.of.Text, Holds: explained.Holds, Because: because, Values: explained.Values,
		}
		if err != nil {
			condition.Error = p.told(p.evaluationError(x, err)).Error()
		}
		all = append(all, condition)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, nil
}

// because returns the reason as a sentence, from the parts of the expression.
func (p *parts) because(holds bool) string {
	if holds {
		return "the expression is true"
	}
	var said []string
	for _, v := range p.decisive(p.tree.Expr(), types.False) {
		said = append(said, shortened(v.Expression)+" is "+v.Value)
	}
	if len(said) == 0 || len(said) > maxParts {
		return "the expression is false"
	}
	return strings.Join(said, ", and ")
}

// maxParts is the maximum number of parts of an expression in a sentence.
const maxParts = 3

// maxBecause is the maximum length of an expression in a sentence, in characters.
const maxBecause = 120

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxBecause {
		return text
	}
	return string(runes[:maxBecause]) + "..."
}

// ruleSubject returns the name of a rule for messages.
func ruleSubject(policy, name string, index int) string {
	if policy == "" {
		return "rule " + strconv.Itoa(index)
	}
	return "rule " + name + " of " + policy
}

// Subject returns the name of the rule: its index in the Job's own podFailurePolicy, or its own name and its policy's.
func (r RuleExplanation) Subject() string { return ruleSubject(r.Policy, r.RuleName, r.Rule) }
