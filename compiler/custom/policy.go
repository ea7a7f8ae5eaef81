package custom

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Policy is a policy's checked expressions. It is immutable.
type Policy struct {
	// Warnings are what is likely to be a mistake, in the order of the fields.
	Warnings []Finding
	// Cost is what all expressions cost together at most, as the API server estimates
	// it and in its units, on pods and Jobs within the bounds.
	Cost uint64
	// Reads are the fields of Pod and Job that the expressions look at.
	Reads Reads

	Conditions []*Expression
	// Variables may use those before them, by VariableName.
	Variables []Variable
	Rules     []Rule
}

// Variable is a named expression of a policy.
type Variable struct {
	Name string
	*Expression
}

// Rule is one that has been compiled. What it does is the caller's business.
type Rule struct {
	Phase corev1.PodPhase
	When  *Expression
	// Message is nil for the default.
	Message *Expression
	// Always is whether the rule is known to match every pod in the phase.
	Always bool
}

func (c *compilation) policy() *Policy {
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Rule, b.Rule) })
	p := &Policy{Warnings: c.findings, Cost: c.cost, Reads: c.reads, Conditions: c.conditions, Rules: c.rules}
	for i := range c.variables {
		p.Variables = append(p.Variables, Variable{c.variables[i].name, c.variables[i].expression})
	}
	return p
}
