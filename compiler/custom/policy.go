package custom

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// Policy is a policy's checked expressions. It is immutable.
type Policy struct {
	// Warnings are likely mistakes, in the order of the fields.
	Warnings []compiler.Finding
	// Cost is the highest cost of all expressions together on pods and Jobs within the
	// bounds, in the API server's units and as the API server estimates it.
	Cost uint64
	// Reads are the fields of Pod and Job that the expressions look at.
	Reads Reads
	// ReadsAttempts is true if expressions look at earlier attempts.
	ReadsAttempts bool

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

// Rule is a compiled rule. Its action is the caller's business.
type Rule struct {
	Phase corev1.PodPhase
	When  *Expression
	// Message is nil for the default.
	Message *Expression
	// Always says that the rule is known to match every pod in the phase.
	Always bool
	// Due says when time alone can change whether the rule matches.
	Due Due
}

func (c *compilation) policy() *Policy {
	slices.SortStableFunc(c.findings, func(a, b compiler.Finding) int { return cmp.Compare(a.Rule, b.Rule) })
	p := &Policy{Warnings: c.findings, Cost: c.cost, Reads: c.reads, ReadsAttempts: c.readsAttempts, Conditions: c.conditions, Rules: c.rules}
	for i := range c.variables {
		p.Variables = append(p.Variables, Variable{c.variables[i].name, c.variables[i].expression})
	}
	return p
}
