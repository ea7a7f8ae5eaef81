package custom

import (
	"cmp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Policy is a policy's expressions, ready to be evaluated. It is immutable and safe
// for concurrent use.
type Policy struct {
	// Warnings are what is likely to be a mistake, in the order of the fields.
	Warnings []Finding
	// Cost is what all expressions cost together at most, as the API server estimates
	// it and in its units, on pods and Jobs within the bounds.
	Cost uint64

	conditions []expression
	variables  []compiledVariable
	numbers    map[string]int
	rules      []rule
	// failurePolicy is what a rule that cannot be evaluated means.
	failurePolicy v1alpha1.FailurePolicy
	// interpret evaluates everything by CEL's interpreter. The answers are the same;
	// it is there to prove that.
	interpret bool
	// evaluations are used again, so that nothing is allocated.
	evaluations sync.Pool
}

// rule is one that has been compiled. What it does is the caller's business.
type rule struct {
	phase   corev1.PodPhase
	when    expression
	message *expression // nil for the default
	// always is whether the rule is known to match every pod in the phase.
	always bool
}

func (c *compilation) policy() *Policy {
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Rule, b.Rule) })
	p := &Policy{
		Warnings: c.findings, Cost: c.cost,
		conditions: c.conditions, variables: c.variables, rules: c.rules, numbers: map[string]int{},
		failurePolicy: cmp.Or(c.spec.FailurePolicy, v1alpha1.FailurePolicyIgnore),
	}
	for i := range p.rules {
		p.rules[i].always = c.verdicts[i] == always
	}
	for i := range p.variables {
		v := &p.variables[i]
		p.numbers[wholeName(v.name)] = i
		v.tree = nil // the plans have what they need of it
	}
	return p
}

// Interpreted is the same policy, evaluated by CEL's ordinary interpreter alone.
func (p *Policy) Interpreted() *Policy {
	return &Policy{
		Warnings: p.Warnings, Cost: p.Cost, conditions: p.conditions, variables: p.variables, numbers: p.numbers,
		rules: p.rules, failurePolicy: p.failurePolicy, interpret: true,
	}
}
