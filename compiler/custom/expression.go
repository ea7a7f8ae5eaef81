package custom

import (
	"slices"
	"sync"

	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/custom/metered"
	"github.com/podverdict/podverdict/compiler/custom/native"
)

// expression is one that has been compiled.
type expression struct {
	place  place
	native native.Expression
	// dissections are for explanations.
	dissections *sync.Pool
	// program is for CEL's interpreter.
	program func() (*metered.Program, error)
	// typ is that of the value, and cost the static one.
	typ  *types.Type
	cost uint64
}

// Expression is what is known of an expression of a policy.
type Expression struct {
	// Field is its path, as in spec.rules[2].when.
	Field string
	Text  string
	// Type is that of its value, as CEL writes it.
	Type string
	// Cost is what it costs at most on pods and Jobs within the bounds, in the API
	// server's units, of CostLimit. Variables that it uses have costs of their own.
	Cost uint64
}

// Expressions are those of match conditions, of variables, and of rules with their
// messages, in this order.
func (p *Policy) Expressions() []Expression {
	var all []Expression
	add := func(x *expression) {
		all = append(all, Expression{Field: x.place.path, Text: x.place.text, Type: x.typ.String(), Cost: x.cost})
	}
	for i := range p.conditions {
		add(&p.conditions[i])
	}
	for i := range p.variables {
		add(&p.variables[i].expression)
	}
	for i := range p.rules {
		add(&p.rules[i].when)
		if p.rules[i].message != nil {
			add(p.rules[i].message)
		}
	}
	return all
}

// Always is the index of the first rule about failed pods that is known to match every
// one of them, or NoRule.
func (p *Policy) Always() int {
	return slices.IndexFunc(p.rules, func(r rule) bool { return r.always && r.phase == corev1.PodFailed })
}
