package metered

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// meter counts the cost of one evaluation. Nodes find it as a variable of the evaluation, under a name that no expression can
// use.
type meter struct {
	cel.Activation

	ctx          context.Context //nolint:containedctx // CEL passes nodes no context
	spent, limit uint64
	// look is the cost at which the context is checked next.
	look uint64
	// kept holds argument values for later calls; arguments holds the arguments of the call being charged.
	kept, arguments []ref.Val
}

const meterName = "@meter"

// ResolveName returns the meter, or the value of a name in the expression.
func (m *meter) ResolveName(name string) (any, bool) {
	if name == meterName {
		return m, true
	}
	return m.Activation.ResolveName(name)
}

// meterOf returns the meter of the evaluation, which Eval always sets.
func meterOf(frame *interpreter.ExecutionFrame) *meter {
	found, _ := frame.ResolveName(meterName)
	m, _ := found.(*meter)
	return m
}

// stop is the value with which a meter panics to leave CEL's interpreter.
type stop struct{ cause error }

// between is the number of units between two checks of the context.
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

// pay charges a call whose arguments are known. If an argument is an error, the call is not made and costs almost nothing.
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
