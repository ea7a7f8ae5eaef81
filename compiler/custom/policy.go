package custom

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// Policy holds a policy's checked expressions. It is immutable.
type Policy struct {
	// Warnings are likely mistakes, in field order.
	Warnings []compiler.Finding
	// Cost is the maximum total cost of all expressions on pods and Jobs within the bounds, in the
	// API server's units and by its estimation.
	Cost uint64
	// Reads are the fields of Pods, Jobs and Nodes that the expressions read.
	Reads Reads
	// ReadsAttempts reports whether expressions read earlier attempts.
	ReadsAttempts bool

	Conditions []*Expression
	// Variables can use preceding variables by VariableName.
	Variables []Variable
	Rules     []Rule
}

// Variable is a named expression of a policy.
type Variable struct {
	Name string
	*Expression
}

// Rule is a compiled rule. The caller handles its action.
type Rule struct {
	Phase corev1.PodPhase
	When  *Expression
	// Message is nil for the default message.
	Message *Expression
	// Always reports whether the rule is known to match every pod in the phase.
	Always bool
	// Due describes when the passage of time can change whether the rule matches.
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
