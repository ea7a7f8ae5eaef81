package compiler

import (
	"fmt"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	batchv1 "k8s.io/api/batch/v1"
)

// Compiled is a policy compiled to checked CEL, with one expression per rule. It is immutable.
type Compiled struct {
	Policy      *Policy
	Environment *Environment
	Rules       []CompiledRule
}

// CompiledRule is a rule with an expression over the variable pod that is true if the rule matches.
type CompiledRule struct {
	Rule
	// AST is the checked expression.
	AST *ast.AST
	// Cost is the maximum cost of an evaluation, in the API server's units, on a pod with at most
	// MaxContainers containers and MaxConditions conditions.
	Cost uint64
}

// Source returns the rule's expression as portable CEL text, on one line.
func (r CompiledRule) Source() (string, error) {
	return parser.Unparse(r.AST.Expr(), r.AST.SourceInfo(), parser.WrapOnColumn(OneLine))
}

// OneLine is a column limit that no expression reaches.
const OneLine = 1 << 30

// Compile generates and checks the expressions of a policy. The policy must not change afterwards.
// Compile returns a *CompileError if a rule has an unreasonable number of condition statuses. A
// policy that NewPolicy returned never does.
func (e *Environment) Compile(p *Policy) (*Compiled, error) {
	c := &Compiled{Policy: p, Environment: e, Rules: make([]CompiledRule, len(p.Rules))}
	for i, rule := range p.Rules {
		compiled, err := e.compileRule(rule)
		if err != nil {
			return nil, &CompileError{Rule: i, Err: err}
		}
		c.Rules[i] = compiled
	}
	return c, nil
}

func (e *Environment) compileRule(r Rule) (CompiledRule, error) {
	if r.Action == batchv1.PodFailurePolicyActionFailIndex && !e.failIndex {
		r.Match = Never{} // this version's Job controller skips the rule
	}
	if m, ok := r.Match.(PodConditions); ok && len(m.statuses()) > maxStatuses {
		return CompiledRule{}, fmt.Errorf("onPodConditions asks for more than %d different statuses", maxStatuses)
	}
	b := newBuilder()
	checked, err := e.checkExpression(r.Match, b.expression(r.Match), b.info)
	if err != nil {
		return CompiledRule{}, err
	}
	cost, err := checker.Cost(checked, costs, checker.PresenceTestHasCost(false))
	if err != nil {
		return CompiledRule{}, err
	}
	return CompiledRule{Rule: r, AST: checked, Cost: cost.Max}, nil
}

// checkExpression type-checks an expression, or reuses the result for an expression of the same
// shape. Expressions of one shape number their nodes identically, so their nodes have the same
// types.
func (e *Environment) checkExpression(m Match, expr ast.Expr, info *ast.SourceInfo) (*ast.AST, error) {
	unchecked := ast.NewAST(expr, info)
	shape, common := shapeOf(m)
	if common {
		if known, ok := e.shapes.find(shape); ok {
			return ast.NewCheckedAST(unchecked, known.types, known.references), nil
		}
	}
	checked, errs := checker.Check(unchecked, noSource, e.check)
	if len(errs.GetErrors()) > 0 {
		return nil, fmt.Errorf("type check: %s", errs.ToDisplayString())
	}
	if common {
		e.shapes.keep(shape, checkedShape{checked.TypeMap(), checked.ReferenceMap()})
	}
	return checked, nil
}

// noSource is a placeholder for source text. Generated expressions have none.
var noSource = common.NewTextSource("")
