package custom

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	apilibrary "k8s.io/apiserver/pkg/cel/library"

	"github.com/podverdict/podverdict/compiler"
	rulecel "github.com/podverdict/podverdict/compiler/cel"
)

// Bounds on pods and Jobs within which the static cost of an expression holds. Larger
// ones are evaluated too; the interpreter then ends at the same limits with an error.
const (
	// MaxContainers is the limit of each list of containers or of their statuses, and of
	// all containers of a pod together.
	MaxContainers = 64
	// MaxEntries is the limit of entries in any other list or map.
	MaxEntries = 128
	// MaxText is the limit of a string in characters, if nothing else is known of it. It
	// is the kubelet's limit on a termination message.
	MaxText = 4096
	// MaxName is the API's limit on most names.
	MaxName = 253
	// MaxWord is the limit of phases, states, statuses and such words.
	MaxWord = 64
	// MaxAnnotation is the API's limit on all annotations together.
	MaxAnnotation = 256 << 10
)

// maxShownCost is the highest cost that a message shows. Higher ones soon overflow.
const maxShownCost uint64 = 1_000_000_000_000

// newCostEstimator returns an estimator that works as the API server's does, with the
// sizes of variables.
func newCostEstimator(variables map[string]checker.SizeEstimate) *costEstimator {
	return &costEstimator{apilibrary.CostEstimator{SizeEstimator: bounds{variables}}}
}

// estimate adds what an expression may cost. It returns false, and reports it, when that
// is too much. The environment knows what the functions of its libraries cost.
func (c *compilation) estimate(p place, env *cel.Env, checked *cel.Ast) bool {
	tree := checked.NativeRep()
	cost, err := env.EstimateCost(checked, newCostEstimator(c.sizes))
	if err != nil {
		c.report(p.err(CheckCost, p.start(), err.Error(), ""))
		return false
	}
	if cost.Max > compiler.CostLimit {
		costs := fmt.Sprintf("may cost %d", cost.Max)
		if cost.Max > maxShownCost {
			costs = fmt.Sprintf("may cost more than %d", maxShownCost)
		}
		c.report(p.err(CheckCost, p.locate(tree, innermost(tree.Expr())),
			fmt.Sprintf("the expression %s, and the limit is %d", costs, compiler.CostLimit),
			"put fewer loops into each other, or look at fewer and shorter strings in them"))
		return false
	}
	c.cost += cost.Max
	return true
}

// total reports a policy that may cost more than its budget.
func (c *compilation) total() {
	if c.cost > compiler.CostBudget {
		p := place{rule: compiler.NoRule, path: "spec.rules"}
		c.report(p.err(CheckCost, p.start(), fmt.Sprintf(
			"the expressions of the policy may cost %d together, and the limit is %d", c.cost, compiler.CostBudget), ""))
	}
}

// innermost returns the loop with the most loops around it, which costs most, or the
// expression if it has no loop.
func innermost(e ast.Expr) ast.Expr {
	found, depth := e, 0
	Visit(e, nil, func(e ast.Expr, locals []string) {
		if d := len(locals) + 1; e.Kind() == ast.ComprehensionKind && d > depth {
			found, depth = e, d
		}
	})
	return found
}

// costEstimator adds the library's functions to the API server's estimator.
type costEstimator struct{ apilibrary.CostEstimator }

func (e *costEstimator) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	for _, f := range rulecel.Functions {
		if f.ID() == overload {
			return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(callCost(f)), ResultSize: resultSize(f)}
		}
	}
	operands := args
	if target != nil {
		operands = append([]checker.AstNode{*target}, args...)
	}
	if length, empty := e.lengths(operands); empty && slices.Contains(textCalls, overload) {
		units := uint64(1)
		if slices.Contains(searches, overload) {
			units += length / 10
		}
		return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(units)}
	}
	return e.CostEstimator.EstimateCallCost(function, overload, target, args)
}

// textCalls are the calls for which CEL's estimate is 0 if one operand is an empty text, though
// package metered charges each call, and searches for the text that is not empty.
var (
	textCalls = append([]string{
		overloads.StartsWithString, overloads.EndsWithString, overloads.Equals, overloads.NotEquals,
		overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString,
	}, searches...)
	searches = []string{overloads.ContainsString, overloads.Matches, overloads.MatchesString}
)

// lengths returns the length of the longest operand, and whether one of them is empty.
func (e *costEstimator) lengths(operands []checker.AstNode) (longest uint64, empty bool) {
	for _, o := range operands {
		size := o.ComputedSize()
		if size == nil {
			size = e.EstimateSize(o)
		}
		if size == nil {
			size = &checker.SizeEstimate{Max: MaxText}
		}
		empty, longest = empty || size.Max == 0, max(longest, size.Max)
	}
	return longest, empty
}

// callCost returns one unit for each element that a function looks at, or for each piece of text.
func callCost(f rulecel.Function) uint64 {
	switch f.Name {
	case rulecel.BetweenFunction, rulecel.PendingForFunction, rulecel.RunningForFunction, rulecel.TerminatingForFunction, rulecel.LabelFunction:
		return 1
	case rulecel.UnreachableFunction:
		return 2 * MaxEntries // taints and conditions
	case rulecel.ConditionFunction, rulecel.HasConditionFunction, rulecel.UnschedulableFunction, rulecel.NotReadyForFunction,
		rulecel.ReadyFunction, rulecel.HasTaintFunction:
		return MaxEntries
	case rulecel.FailedIndexCountFunction:
		return MaxText / 10 // characters a unit, as for the API server's functions
	default:
		return MaxContainers
	}
}

func resultSize(f rulecel.Function) *checker.SizeEstimate {
	switch f.Name {
	case rulecel.ContainersFunction, rulecel.FailedContainersFunction, rulecel.WaitingReasonsFunction:
		return &checker.SizeEstimate{Max: MaxContainers}
	default:
		return nil
	}
}
