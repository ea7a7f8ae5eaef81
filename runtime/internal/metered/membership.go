package metered

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// membership is the operator in for a list of literals that are all numbers or all strings. Like CEL, it looks up the value
// in a set, and charges nothing for it.
type membership struct {
	interpreter.InterpretableCall

	list    traits.Lister
	set     map[ref.Val]bool
	element ref.Type
}

// withSet returns the call with its list of literals as a set. Ok is false for other calls.
func withSet(c interpreter.InterpretableCall) (m *membership, ok bool) {
	if c.Function() != operators.In || len(c.Args()) != 2 {
		return nil, false
	}
	constant, isConstant := c.Args()[1].(interpreter.InterpretableConst)
	if !isConstant {
		return nil, false
	}
	list, isList := constant.Value().(traits.Lister)
	if !isList {
		return nil, false
	}
	m = &membership{InterpretableCall: c, list: list, set: map[ref.Val]bool{}}
	for it := list.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		if m.element == nil {
			m.element = element.Type()
		}
		if element.Type() != m.element || m.element != types.IntType && m.element != types.StringType {
			return nil, false
		}
		m.set[element] = true
	}
	return m, len(m.set) > 0
}

func (m *membership) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := m.Args()[0].Exec(frame)
	switch {
	case types.IsUnknownOrError(value):
		return value
	case value.Type() == m.element:
		return types.Bool(m.set[value])
	default:
		meterOf(frame).charge(1 + size(m.list))
		return m.list.Contains(value) // a number of another type may be equal
	}
}

func (m *membership) Eval(names cel.Activation) ref.Val { return m.Exec(interpreter.AsFrame(names)) }
