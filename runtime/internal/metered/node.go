package metered

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// loop is the pseudo function of a call that starts a loop over its argument.
const loop = "@loop"

// call is a function call in a plan.
type call struct {
	function  string
	arguments []argument
	// literal reports for each argument whether it is a literal.
	literal []bool
}

// argument is a literal, or a value that the meter keeps.
type argument struct {
	literal ref.Val
	kept    int
}

// watch describes the charges when a node is evaluated.
type watch struct {
	// units is the cost of the node itself.
	units uint64
	// kept is the index under which the node's value is kept as an argument, or -1.
	kept int
	// last are the calls whose last argument, apart from literals, is this node.
	last []*call
}

func (w *watch) idle() bool { return w.units == 0 && w.kept < 0 && len(w.last) == 0 }

// exec evaluates the watched node.
func (w *watch) exec(inner interpreter.InterpretableV2, frame *interpreter.ExecutionFrame) ref.Val {
	if w.idle() {
		return inner.Exec(frame)
	}
	m := meterOf(frame)
	m.charge(w.units)
	value := inner.Exec(frame)
	if w.kept >= 0 {
		m.kept[w.kept] = value
	}
	for _, c := range w.last {
		m.pay(c)
	}
	return value
}

// node wraps any node but a selection. CEL does not recognize it, and so does not replace it.
type node struct {
	interpreter.InterpretableV2
	watch
}

func (n *node) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return n.exec(n.InterpretableV2, frame)
}

func (n *node) Eval(names cel.Activation) ref.Val { return n.Exec(interpreter.AsFrame(names)) }

// selection wraps a variable with the fields that are selected from it, which CEL adds one by one.
type selection struct {
	interpreter.InterpretableAttribute
	watch
}

func (s *selection) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return s.exec(s.InterpretableAttribute, frame)
}

func (s *selection) Eval(names cel.Activation) ref.Val { return s.Exec(interpreter.AsFrame(names)) }

func (s *selection) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	s.units++
	return s.InterpretableAttribute.AddQualifier(q)
}
