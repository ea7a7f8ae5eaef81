package compiler

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// Bounds on a pod within which the static cost of a rule holds, for users who run the generated CEL
// in an API server. No API field limits the lists; only the request size does. Package runtime
// evaluates the rules on pods of any size.
const (
	// MaxContainers is the maximum length of containerStatuses and of initContainerStatuses.
	MaxContainers = 1000
	// MaxConditions is the maximum number of conditions.
	MaxConditions = 1000
	// CostLimit is the cost limit of one rule in the API server's units. A million units take about
	// 0.1 s (PerCallLimit in k8s.io/apiserver/pkg/apis/cel).
	CostLimit uint64 = celconfig.PerCallLimit
	// CostBudget is the total cost limit of all expressions of a custom policy.
	CostBudget uint64 = celconfig.RuntimeCELCostBudget
)

// costs estimates costs like the API server, for pods within the bounds.
var costs = &library.CostEstimator{SizeEstimator: bounds{}}

type bounds struct{}

func (bounds) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	switch t := node.Type(); {
	case t.Kind() != types.ListKind: // a string costs no more than the literal it is compared with
		return nil
	case t.Parameters()[0].TypeName() == "PodCondition":
		return &checker.SizeEstimate{Max: MaxConditions}
	default:
		return &checker.SizeEstimate{Max: MaxContainers}
	}
}

func (bounds) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
