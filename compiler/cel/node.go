package cel

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/parser"
	corev1 "k8s.io/api/core/v1"
)

// nodeMacro rewrites pod.node() to the variable node.
var nodeMacro = cel.ReceiverMacro(NodeFunction, 0, func(eh parser.ExprHelper, target ast.Expr, _ []ast.Expr) (ast.Expr, *common.Error) {
	if target.Kind() != ast.IdentKind || target.AsIdent() != "pod" {
		return nil, nil // a call of an undefined function
	}
	return eh.NewIdent(NodeFunction), nil
})

// NodeReady reports whether the node's condition Ready is True. All Node functions accept a nil node, which is not ready and
// has no taints, conditions or labels.
func NodeReady(node *corev1.Node) bool { return NodeHasCondition(node, string(corev1.NodeReady)) }

// NodeUnreachable reports whether the kubelet has stopped reporting, by the node controller's criteria: the node's condition
// Ready is Unknown, or the node has the taint node.kubernetes.io/unreachable.
func NodeUnreachable(node *corev1.Node) bool {
	return NodeHasTaint(node, corev1.TaintNodeUnreachable) || hasStatus(node, string(corev1.NodeReady), corev1.ConditionUnknown)
}

// NodeHasTaint reports whether the node has a taint with the key, regardless of value and effect.
func NodeHasTaint(node *corev1.Node, key string) bool {
	return node != nil && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// NodeHasCondition reports whether the node has a condition of the type that is True.
func NodeHasCondition(node *corev1.Node, conditionType string) bool {
	return hasStatus(node, conditionType, corev1.ConditionTrue)
}

func hasStatus(node *corev1.Node, conditionType string, status corev1.ConditionStatus) bool {
	return node != nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return string(c.Type) == conditionType && c.Status == status
	})
}

// NodeLabel returns the value of the node's label, or "" if it does not have the label.
func NodeLabel(node *corev1.Node, key string) string {
	if node == nil {
		return ""
	}
	return node.Labels[key]
}

// NodeTests maps the names of bool functions of a node to their implementations. Functions without a parameter ignore the
// argument.
var NodeTests = map[string]func(node *corev1.Node, argument string) bool{
	ReadyFunction:        func(node *corev1.Node, _ string) bool { return NodeReady(node) },
	UnreachableFunction:  func(node *corev1.Node, _ string) bool { return NodeUnreachable(node) },
	HasTaintFunction:     NodeHasTaint,
	HasConditionFunction: NodeHasCondition,
}

// NodeSteps returns the cost of a function in NodeTests: one unit for each taint or condition that it inspects.
func NodeSteps(function string, node *corev1.Node) int {
	switch {
	case node == nil:
		return 0
	case function == HasTaintFunction:
		return len(node.Spec.Taints)
	case function == UnreachableFunction:
		return len(node.Spec.Taints) + len(node.Status.Conditions)
	default:
		return len(node.Status.Conditions)
	}
}

// onNode returns a function of an optional node and an optional string. call gets nil for an empty optional, and "" for a
// missing string.
func onNode(call func(*corev1.Node, string) ref.Val) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		var node *corev1.Node
		if optional, ok := args[0].(*types.Optional); ok && optional.HasValue() {
			node, _ = optional.GetValue().Value().(*corev1.Node)
		}
		argument := types.String("")
		if len(args) > 1 {
			argument, _ = args[1].(types.String)
		}
		return call(node, string(argument))
	}
}

func nodeTest(name string) functions.FunctionOp {
	return onNode(func(node *corev1.Node, argument string) ref.Val { return types.Bool(NodeTests[name](node, argument)) })
}
