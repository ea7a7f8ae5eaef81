package library

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

// nodeMacro makes pod.node() a name for the variable node.
var nodeMacro = cel.ReceiverMacro(NodeFunction, 0, func(eh parser.ExprHelper, target ast.Expr, _ []ast.Expr) (ast.Expr, *common.Error) {
	if target.Kind() != ast.IdentKind || target.AsIdent() != "pod" {
		return nil, nil // a call of a function that does not exist
	}
	return eh.NewIdent(NodeFunction), nil
})

// NodeReady reports whether the node's condition Ready is True. A nil node is not ready, and has nothing that the functions
// below ask for.
func NodeReady(node *corev1.Node) bool { return NodeHasCondition(node, string(corev1.NodeReady)) }

// NodeUnreachable reports whether the kubelet has stopped reporting, as the node controller sees it: the node's condition Ready
// is Unknown, or the node has the taint node.kubernetes.io/unreachable.
func NodeUnreachable(node *corev1.Node) bool {
	return NodeHasTaint(node, corev1.TaintNodeUnreachable) || hasStatus(node, string(corev1.NodeReady), corev1.ConditionUnknown)
}

// NodeHasTaint reports whether the node has a taint with the key, whatever its value and effect.
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

// NodeSteps returns the cost of a function that looks at the node: one unit for each taint and condition.
func NodeSteps(node *corev1.Node) int {
	if node == nil {
		return 0
	}
	return len(node.Spec.Taints) + len(node.Status.Conditions)
}

// onNode returns a function of an optional node, which is nil where the optional has no value.
func onNode(call func(*corev1.Node) ref.Val) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		optional, ok := args[0].(*types.Optional)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		if !optional.HasValue() {
			return call(nil)
		}
		node, ok := optional.GetValue().Value().(*corev1.Node)
		if !ok {
			return types.NewErr("no such overload: %s is no Node", optional.GetValue().Type().TypeName())
		}
		return call(node)
	}
}

// onNodeAnd returns a function of an optional node and a string.
func onNodeAnd(call func(*corev1.Node, string) ref.Val) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		argument, ok := args[1].(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
		return onNode(func(node *corev1.Node) ref.Val { return call(node, string(argument)) })(args...)
	}
}
