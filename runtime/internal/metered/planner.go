package metered

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	apilibrary "k8s.io/apiserver/pkg/cel/library"
)

// planner decorates the nodes of one plan, each after its children.
type planner struct {
	// tests holds the nodes of has() macros, choices the nodes of the operator ?:, and loops maps loops to the nodes that
	// they iterate over.
	tests, choices map[int64]bool
	loops          map[int64]int64

	watches    map[int64]*watch
	selections map[interpreter.Attribute]*selection
	kept       int
	// root is the node that was decorated last. In the end it is the whole plan.
	root interpreter.InterpretableV2
}

func newPlanner(tree *ast.AST) *planner {
	p := &planner{
		tests: map[int64]bool{}, choices: map[int64]bool{}, loops: map[int64]int64{},
		watches: map[int64]*watch{}, selections: map[interpreter.Attribute]*selection{},
	}
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			p.tests[e.ID()] = e.AsSelect().IsTestOnly()
		case ast.CallKind:
			p.choices[e.ID()] = e.AsCall().FunctionName() == operators.Conditional
		case ast.ComprehensionKind:
			p.loops[e.ID()] = e.AsComprehension().IterRange().ID()
		default:
		}
	}))
	return p
}

// decorate adds the charges to a node of the plan. CEL calls it for each node before optimizing it.
func (p *planner) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	var err error
	p.root, err = p.decorated(i)
	return p.root, err
}

func (p *planner) decorated(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch n := i.(type) {
	case interpreter.InterpretableConst:
		return n, nil
	case interpreter.InterpretableAttribute:
		return p.attribute(n), nil
	case interpreter.InterpretableCall:
		return p.call(n)
	case interpreter.InterpretableConstructor:
		return p.constructor(n), nil
	default:
		if over, found := p.loops[i.ID()]; found {
			p.loop(over)
		}
		return p.node(i, 0), nil
	}
}

func (p *planner) node(i interpreter.InterpretableV2, units uint64) *node {
	n := &node{i, watch{units: units, kept: -1}}
	p.watches[i.ID()] = &n.watch
	return n
}

// attribute returns a new selection, or the node itself if CEL has only added to a known selection, under another id.
func (p *planner) attribute(a interpreter.InterpretableAttribute) interpreter.InterpretableV2 {
	s, known := p.selections[a.Attr()]
	switch {
	case known && p.tests[a.ID()]:
		return p.node(a, s.units-1) // the test itself costs nothing
	case known:
		p.watches[a.ID()] = &s.watch
		return a
	}
	s = &selection{a, watch{units: 1, kept: -1}}
	if p.choices[a.ID()] {
		s.units = 0 // its parts were charged already
	}
	p.selections[a.Attr()] = s
	p.watches[a.ID()] = &s.watch
	return s
}

// constructor charges lists, maps and objects. It leaves literals to CEL, which creates them once.
func (p *planner) constructor(c interpreter.InterpretableConstructor) interpreter.InterpretableV2 {
	constant := !slices.ContainsFunc(c.InitVals(), func(i interpreter.InterpretableV2) bool {
		_, literal := i.(interpreter.InterpretableConst)
		return !literal
	})
	switch {
	case constant && (c.Type() == types.ListType || c.Type() == types.MapType):
		return c
	case c.Type() == types.ListType:
		return p.node(c, listUnits)
	default:
		return p.node(c, mapUnits)
	}
}

// mapUnits is CEL's price for creating a map or an object.
const mapUnits = 30

// call makes the plan charge a call once its arguments are known.
func (p *planner) call(c interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	if constant, err := folded(c); constant != nil || err != nil {
		return constant, err
	}
	if m, ok := withSet(c); ok {
		return p.node(m, 0), nil
	}
	compiled, err := withPattern(c)
	if err != nil {
		return nil, err
	}
	n := p.node(compiled, 0)
	return n, p.charge(&n.watch, c.Function(), c.Args())
}

// charge makes the plan charge a call when its last argument is known, or at once if all are literals.
func (p *planner) charge(before *watch, function string, args []interpreter.InterpretableV2) error {
	priced := &call{function: function}
	var last *watch
	var literals []ref.Val
	for _, arg := range args {
		constant, literal := arg.(interpreter.InterpretableConst)
		priced.literal = append(priced.literal, literal)
		if literal {
			literals = append(literals, constant.Value())
			priced.arguments = append(priced.arguments, argument{literal: constant.Value()})
			continue
		}
		if last = p.watches[arg.ID()]; last == nil {
			return errUnwatched(function, arg)
		}
		priced.arguments = append(priced.arguments, argument{kept: p.keep(last)})
	}
	if last == nil {
		before.units += price(priced, literals)
		return nil
	}
	last.last = append(last.last, priced)
	return nil
}

// keep returns the index under which the meter keeps the node's value.
func (p *planner) keep(w *watch) int {
	if w.kept < 0 {
		w.kept = p.kept
		p.kept++
	}
	return w.kept
}

// loop makes the plan charge the start of a loop when the value that it iterates over is known. Literals are small and cost
// nothing.
func (p *planner) loop(over int64) {
	if w := p.watches[over]; w != nil {
		w.last = append(w.last, &call{function: loop, arguments: []argument{{kept: p.keep(w)}}, literal: []bool{false}})
	}
}

// folded returns the value if CEL evaluates a call while planning: the conversion of a literal, and in with an empty list,
// which is false even for an error. It returns nil for other calls.
func folded(c interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	args := c.Args()
	if len(args) == 0 {
		return nil, nil //nolint:nilnil // any other call
	}
	constant, ok := args[len(args)-1].(interpreter.InterpretableConst)
	switch {
	case !ok:
	case len(args) == 1 && overloads.IsTypeConversionFunction(c.Function()):
		value := c.Eval(interpreter.EmptyActivation())
		if failed, ok := value.(*types.Err); ok {
			return nil, failed
		}
		return interpreter.NewConstValue(c.ID(), value), nil
	case len(args) == 2 && c.Function() == operators.In:
		if list, ok := constant.Value().(traits.Lister); ok && list.Size() == types.IntZero {
			return interpreter.NewConstValue(c.ID(), types.False), nil
		}
	}
	return nil, nil //nolint:nilnil // any other call
}

// patterns are the functions with a regular expression argument.
var patterns = []*interpreter.RegexOptimization{
	interpreter.MatchesRegexOptimization, apilibrary.FindRegexOptimization, apilibrary.FindAllRegexOptimization,
}

// withPattern returns the call with its regular expression compiled in advance if it is a literal.
func withPattern(c interpreter.InterpretableCall) (interpreter.InterpretableCall, error) {
	for _, p := range patterns {
		if c.Function() != p.Function || len(c.Args()) <= p.RegexIndex {
			continue
		}
		if constant, ok := c.Args()[p.RegexIndex].(interpreter.InterpretableConst); ok {
			if pattern, ok := constant.Value().(types.String); ok {
				return p.Factory(c, string(pattern))
			}
		}
	}
	return c, nil
}
