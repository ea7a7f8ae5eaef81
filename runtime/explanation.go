package runtime

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
)

// Outcome is the outcome of evaluating a rule.
type Outcome string

const (
	// OutcomeMatched means that the rule decided.
	OutcomeMatched Outcome = "matched"
	// OutcomeNotMatched means that the rule was tried before the one that decided.
	OutcomeNotMatched Outcome = "not matched"
	// OutcomeNotReached means that an earlier rule decided.
	OutcomeNotReached Outcome = "not reached"
	// OutcomeError means that the rule could not be evaluated.
	OutcomeError Outcome = "error"
)

// Explanation explains a pod's verdict: by each rule, and within a rule by each container or condition that it examined.
type Explanation struct {
	Verdict Verdict           `json:"verdict"`
	Rules   []RuleExplanation `json:"rules,omitempty"`
}

// RuleExplanation is the result of one rule for the pod.
type RuleExplanation struct {
	Rule int `json:"rule"`
	// Policy and RuleName identify a custom policy's rule. They are empty for the Job's own rules.
	Policy   string                         `json:"policy,omitempty"`
	RuleName string                         `json:"ruleName,omitempty"`
	Action   batchv1.PodFailurePolicyAction `json:"action"`
	Outcome  Outcome                        `json:"outcome"`
	// Holds is true if the rule's expression is true. It may also be true for rules that were not reached.
	Holds bool `json:"holds"`
	// Because is the reason, as a sentence.
	Because string `json:"because"`
	// Expression is the rule's CEL. Cost is the cost of its evaluation in the API server's units; the limit is
	// compiler.CostLimit.
	Expression string `json:"expression"`
	Cost       uint64 `json:"cost"`
	// Values are the parts of a custom rule's expression that && and || join, and the values that they compare.
	Values   []Value              `json:"values,omitempty"`
	Elements []ElementExplanation `json:"elements,omitempty"`
	// Omitted is the number of elements without an explanation. Only the first fifty elements and the one that matched are
	// explained.
	Omitted int    `json:"omitted,omitempty"`
	Error   string `json:"error,omitempty"`
	// Ignored is true if later rules are tried despite this rule's error, because of the policy's failurePolicy.
	Ignored bool `json:"ignored,omitempty"`
}

// ElementExplanation is the result of a rule for one container or condition.
type ElementExplanation struct {
	// Kind is container, initContainer or condition, and for custom rules also
	// sidecar.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Observed is the container's state or the condition's status.
	Observed string `json:"observed"`
	Matched  bool   `json:"matched"`
	// Because is the reason. Custom rules have Values instead.
	Because string `json:"because,omitempty"`
	// Values are the sub-expressions of the rule's predicate, in which c is this element. Those that were not needed are
	// omitted.
	Values []Value `json:"values,omitempty"`
}

// Value is a sub-expression and its value, both as CEL.
type Value struct {
	Expression string `json:"expression"`
	Value      string `json:"value"`
}

// Explain evaluates every rule with CEL's interpreter and records the values of sub-expressions. It returns the verdict of
// Judge and the rules in order, without rules for a pod that is not terminal. It returns an error if the context is done.
func (p *Program) Explain(ctx context.Context, in Input) (Explanation, error) {
	e := Explanation{Verdict: p.Judge(ctx, in)}
	if !e.Verdict.Terminal {
		return e, nil
	}
	err := p.explainRules(ctx, in, &e)
	decided := false
	for i := range e.Rules {
		rule := &e.Rules[i]
		rule.Outcome = outcome(&e.Verdict, rule, decided)
		decided = decided || rule.Decides()
	}
	if err == nil && ctx.Err() != nil {
		return e, context.Cause(ctx) // the explanation would be incomplete
	}
	return e, err
}

// Decides reports whether no later rule is tried.
func (r RuleExplanation) Decides() bool {
	return r.Outcome == OutcomeMatched || r.Outcome == OutcomeError && !r.Ignored
}

func (p *Program) explainRules(ctx context.Context, in Input, e *Explanation) error {
	if ended, found := p.ended(in.Pod); found {
		e.Rules = append(e.Rules, ended.explanation())
	}
	for _, policy := range p.policies {
		rules, err := policy.Explain(ctx, in)
		if err != nil {
			return err
		}
		e.Rules = append(e.Rules, rules...)
	}
	return nil
}

// outcome returns the outcome of a rule, given the verdict.
func outcome(v *Verdict, r *RuleExplanation, decided bool) Outcome {
	switch {
	case decided:
		return OutcomeNotReached
	case v.Matched && r.Rule == v.Rule && r.Policy == v.Policy:
		return OutcomeMatched
	case v.Err != nil && r.Error != "":
		return OutcomeError
	default:
		return OutcomeNotMatched
	}
}
