package closure

import (
	"github.com/google/cel-go/common/ast"

	"github.com/podverdict/podverdict/compiler/cel"
)

// nodeTest compiles a bool function of a node from compiler/cel.
func (s *scope) nodeTest(call ast.CallExpr) boolean {
	name := call.FunctionName()
	test, known := cel.NodeTests[name]
	if !known {
		return nil
	}
	argument := text(func(*Frame) (string, bool) { return "", true })
	if len(call.Args()) > 0 {
		argument = s.text(call.Args()[0])
	}
	if argument == nil {
		return nil
	}
	return func(f *Frame) Truth {
		a, ok := argument(f)
		ok = ok && f.look(cel.NodeSteps(name, f.Node))
		return decided(ok && test(f.Node, a), ok)
	}
}

// nodeLabel compiles the function label of compiler/cel.
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
		return cel.NodeLabel(f.Node, k), ok && f.read(k)
	}
}
