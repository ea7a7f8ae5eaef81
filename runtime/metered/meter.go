package metered

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// meter counts what one evaluation spends. Nodes find it as a variable of the evaluation,
// whose name no expression can have.
type meter struct {
	cel.Activation

	ctx          context.Context //nolint:containedctx // nodes are evaluated without one
	spent, limit uint64
	// look is when the context is looked at next.
	look uint64
	// kept are the values of arguments that calls need later, and arguments those of one
	// call.
	kept, arguments []ref.Val
}

const meterName = "@meter"

// ResolveName returns the meter or what the expression names.
func (m *meter) ResolveName(name string) (any, bool) {
	if name == meterName {
		return m, true
	}
	return m.Activation.ResolveName(name)
}

// meterOf returns the meter of the evaluation. There is one: Eval has put it there.
func meterOf(frame *interpreter.ExecutionFrame) *meter {
	found, _ := frame.ResolveName(meterName)
	m, _ := found.(*meter)
	return m
}

// stop is the value with which a meter panics to leave CEL's interpreter.
type stop struct{ cause error }

// between is how many units are spent between two looks at the context.
const between = 1000

func (m *meter) charge(units uint64) {
	m.spent += units
	if m.spent > m.limit || m.spent < units {
		panic(stop{&LimitError{m.limit}}) //nolint:forbidigo // Eval recovers it
	}
	if m.spent < m.look {
		return
	}
	m.look = m.spent + between
	if m.ctx.Err() != nil {
		panic(stop{context.Cause(m.ctx)}) //nolint:forbidigo // Eval recovers it
	}
}

// pay charges a call whose arguments are known. Those with an error are not used, so
// the call costs next to nothing.
func (m *meter) pay(c *call) {
	m.arguments = m.arguments[:0]
	for i := range c.arguments {
		value := c.arguments[i].literal
		if value == nil {
			value = m.kept[c.arguments[i].kept]
		}
		if types.IsUnknownOrError(value) {
			m.charge(1)
			return
		}
		m.arguments = append(m.arguments, value)
	}
	m.charge(price(c, m.arguments))
}
