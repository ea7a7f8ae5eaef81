package runtime

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
)

// Outcome is what became of a rule.
type Outcome string

const (
	// OutcomeMatched is the rule that decided.
	OutcomeMatched Outcome = "matched"
	// OutcomeNotMatched is a rule that was tried before it.
	OutcomeNotMatched Outcome = "not matched"
	// OutcomeNotReached is a rule after the one that decided.
	OutcomeNotReached Outcome = "not reached"
	// OutcomeError is a rule that could not be evaluated.
	OutcomeError Outcome = "error"
)

// Explanation says why a pod got its verdict: rule by rule, and within a rule by
// each container or condition that it looked at.
type Explanation struct {
	Verdict Verdict           `json:"verdict"`
	Rules   []RuleExplanation `json:"rules,omitempty"`
}

// RuleExplanation is what one rule made of the pod.
type RuleExplanation struct {
	Rule int `json:"rule"`
	// Policy and RuleName are those of a custom policy's rule, and empty for the
	// Job's own.
	Policy   string                         `json:"policy,omitempty"`
	RuleName string                         `json:"ruleName,omitempty"`
	Action   batchv1.PodFailurePolicyAction `json:"action"`
	Outcome  Outcome                        `json:"outcome"`
	// Holds is whether the rule's expression is true of the pod. It may also be
	// true for rules that were not reached.
	Holds bool `json:"holds"`
	// Because is the reason, as a sentence.
	Because string `json:"because"`
	// Expression is the rule's CEL, Cost what it took to evaluate, in the API
	// server's units, of compiler.CostLimit.
	Expression string `json:"expression"`
	Cost       uint64 `json:"cost"`
	// Values are the parts of a custom rule's expression that are joined by && and ||,
	// and what they compare.
	Values   []Value              `json:"values,omitempty"`
	Elements []ElementExplanation `json:"elements,omitempty"`
	// Omitted is how many more elements there are: the first fifty are explained,
	// and the one that matched.
	Omitted int    `json:"omitted,omitempty"`
	Error   string `json:"error,omitempty"`
	// Ignored is whether the rules after one with an error are tried, as the policy's
	// failurePolicy says.
	Ignored bool `json:"ignored,omitempty"`
}

// ElementExplanation is what a rule made of one container or condition.
type ElementExplanation struct {
	// Kind is container, initContainer or condition, and for custom rules also
	// sidecar.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Observed is what the rule looks at: a container's state or a condition's status.
	Observed string `json:"observed"`
	Matched  bool   `json:"matched"`
	// Because is the reason. For custom rules, the values are.
	Because string `json:"because,omitempty"`
	// Values are the sub-expressions of the rule's predicate, c being this
	// element. Those that were not needed are left out.
	Values []Value `json:"values,omitempty"`
}

// Value is a sub-expression and its value, both as CEL.
type Value struct {
	Expression string `json:"expression"`
	Value      string `json:"value"`
}

// Explain evaluates every rule on CEL's interpreter and keeps the values of
// sub-expressions. It has the verdict of Judge, and the rules in their order. A pod
// that is not terminal has no rules to explain. The error is that of a context which
// is done.
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
		return e, context.Cause(ctx) // what was cut short is no explanation
	}
	return e, err
}

// Decides reports whether no rule after this one is tried.
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

// outcome returns what became of a rule. The verdict decides it; an explanation only says
// why.
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
