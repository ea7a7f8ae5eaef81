package custom

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// Expression is a checked expression of a policy.
type Expression struct {
	// Rule is the index of the rule, or NoRule for a match condition or a variable.
	Rule int
	// Field is the expression's path, as in spec.rules[2].when.
	Field string
	Text  string
	Type  *types.Type
	// Cost is the maximum cost of an evaluation on pods and Jobs within the bounds, in the API
	// server's units. Its limit is compiler.CostLimit. The costs of the variables that it uses are
	// not included.
	Cost uint64

	words vocabulary
}

// Check type-checks the text again, and returns the environment and the syntax tree.
func (x *Expression) Check() (*cel.Env, *ast.AST, error) {
	env, err := x.words.base.Extend(x.words.variables...)
	if err != nil {
		return nil, nil, err
	}
	checked, issues := env.Compile(x.Text)
	if issues.Err() != nil {
		return nil, nil, issues.Err()
	}
	return env, checked.NativeRep(), nil
}

// Expressions returns the expressions of match conditions, of variables, and of rules with their
// messages, in this order.
func (p *Policy) Expressions() []*Expression {
	all := slices.Clone(p.Conditions)
	for i := range p.Variables {
		all = append(all, p.Variables[i].Expression)
	}
	for i := range p.Rules {
		all = append(all, p.Rules[i].When)
		if p.Rules[i].Message != nil {
			all = append(all, p.Rules[i].Message)
		}
	}
	return all
}

// AlwaysMatching returns the index of the first rule on failed pods that is known to match every
// failed pod, or NoRule.
func (p *Policy) AlwaysMatching() int {
	return slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Always && r.Phase == corev1.PodFailed })
}
