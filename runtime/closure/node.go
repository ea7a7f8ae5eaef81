package closure

import (
	"github.com/google/cel-go/common/ast"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/library"
)

// nodeTest compiles a function of package library that asks about the node.
func (s *scope) nodeTest(call ast.CallExpr) boolean {
	switch call.FunctionName() {
	case library.ReadyFunction:
		return func(f *Frame) Truth { return decided(library.NodeReady(f.Node), f.lookAtNode()) }
	case library.UnreachableFunction:
		return func(f *Frame) Truth { return decided(library.NodeUnreachable(f.Node), f.lookAtNode()) }
	case library.HasTaintFunction:
		return s.nodeHas(call, library.NodeHasTaint)
	case library.HasConditionFunction:
		return s.nodeHas(call, library.NodeHasCondition)
	default:
		return nil
	}
}

func (s *scope) nodeHas(call ast.CallExpr, has func(*corev1.Node, string) bool) boolean {
	name := s.text(call.Args()[0])
	if name == nil {
		return nil
	}
	return func(f *Frame) Truth {
		n, ok := name(f)
		ok = ok && f.lookAtNode()
		return decided(ok && has(f.Node, n), ok)
	}
}

// nodeLabel compiles the function label of package library.
func (s *scope) nodeLabel(call ast.CallExpr) text {
	if !call.IsMemberFunction() || s.variable(call.Target()) != "node" {
		return nil
	}
	key := s.text(call.Args()[0])
	if key == nil {
		return nil
	}
	return func(f *Frame) (string, bool) {
		k, ok := key(f)
		return library.NodeLabel(f.Node, k), ok && f.read(k)
	}
}

// lookAtNode counts the node's taints and conditions.
func (f *Frame) lookAtNode() bool { return f.look(library.NodeSteps(f.Node)) }
