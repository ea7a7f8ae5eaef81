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

// Bounds on pods and Jobs within which the static cost of an expression holds. Larger objects are
// evaluated too, but the interpreter stops at the same cost limits with an error.
const (
	// MaxContainers is the maximum length of each list of containers or container statuses, and the
	// maximum number of all containers of a pod.
	MaxContainers = 64
	// MaxEntries is the maximum number of entries in any other list or map.
	MaxEntries = 128
	// MaxText is the maximum length of a string in characters if nothing else is known about it. It
	// is the kubelet's limit on a termination message.
	MaxText = 4096
	// MaxName is the API's limit on most names.
	MaxName = 253
	// MaxWord is the maximum length of enumerated words such as phases, states and statuses.
	MaxWord = 64
	// MaxAnnotation is the API's limit on the total size of all annotations.
	MaxAnnotation = 256 << 10
)

// maxShownCost is the highest cost that a message shows. Higher estimates soon overflow.
const maxShownCost uint64 = 1_000_000_000_000

// newCostEstimator returns an estimator that works like the API server's and knows the sizes of
// variables.
func newCostEstimator(variables map[string]checker.SizeEstimate) *costEstimator {
	return &costEstimator{apilibrary.CostEstimator{SizeEstimator: bounds{variables}}}
}

// estimate adds the estimated cost of an expression. If the cost is too high, it reports that and
// returns false. The environment contains the cost functions of its libraries.
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

// total reports a policy whose estimated cost exceeds its budget.
func (c *compilation) total() {
	if c.cost > compiler.CostBudget {
		p := place{rule: compiler.NoRule, path: "spec.rules"}
		c.report(p.err(CheckCost, p.start(), fmt.Sprintf(
			"the expressions of the policy may cost %d together, and the limit is %d", c.cost, compiler.CostBudget), ""))
	}
}

// innermost returns the most deeply nested loop, which costs most, or the expression itself if it
// has no loop.
func innermost(e ast.Expr) ast.Expr {
	found, depth := e, 0
	Visit(e, nil, func(e ast.Expr, locals []string) {
		if d := len(locals) + 1; e.Kind() == ast.ComprehensionKind && d > depth {
			found, depth = e, d
		}
	})
	return found
}

// costEstimator adds podverdict's functions to the API server's estimator.
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

// textCalls lists the calls for which CEL estimates a cost of 0 if one operand is an empty text.
// Package metered charges each call, and charges searches for the length of the other text.
var (
	textCalls = append([]string{
		overloads.StartsWithString, overloads.EndsWithString, overloads.Equals, overloads.NotEquals,
		overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString,
	}, searches...)
	searches = []string{overloads.ContainsString, overloads.Matches, overloads.MatchesString}
)

// lengths returns the length of the longest operand, and reports whether one of them is empty.
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

// callCost returns one unit for each element that a function inspects, or for each chunk of text.
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
		return MaxText / 10 // characters per unit, as for the API server's functions
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
