package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// Closures by the type of their value. The second result is false if the closure is undecided.
type (
	boolean  func(*Frame) Truth
	integer  func(*Frame) (int64, bool)
	text     func(*Frame) (string, bool)
	duration func(*Frame) (int64, bool) // nanoseconds
)

// Expression is a checked expression compiled to closures. The closure of its type is set if the compiler supports the
// expression at all.
type Expression struct {
	Bool   func(*Frame) Truth
	String func(*Frame) (string, bool)
	// Find returns the element of the pod's status that makes the expression true. It is set instead of Bool for expressions
	// that only search the status. It always decides, and needs no frame.
	Find func(*corev1.PodStatus) Element
	// Complete is true if the compiler supports the whole expression. Its closure is then undecided only where CEL has an
	// error.
	Complete bool

	integer  integer
	elements *elements
}

// Compiler compiles the expressions of one policy. Variables must be compiled before expressions that use them.
type Compiler struct {
	schema    *cel.Schema
	variables map[string]Expression
}

// NewCompiler returns a compiler for expressions over the names pod, job, attempt, now, node and variables.NAME.
func NewCompiler(s *cel.Schema) *Compiler {
	return &Compiler{schema: s, variables: map[string]Expression{}}
}

// Define defines a variable by its full name, such as variables.oom.
func (c *Compiler) Define(name string, e Expression) {
	if find := e.Find; find != nil {
		e.Bool = func(f *Frame) Truth { return truth(find(&f.Pod.Status) != Element{}) }
	}
	c.variables[name] = cached(e, len(c.variables))
}

// Compile compiles a checked expression to closures.
func (c *Compiler) Compile(tree *ast.AST) Expression {
	s := &scope{Compiler: c, tree: tree, complete: true}
	var e Expression
	switch root := tree.Expr(); tree.GetType(root.ID()).Kind() {
	case types.BoolKind:
		if e.Find = s.finder(root); e.Find == nil {
			e.Bool = s.tryBool(root)
		}
	case types.StringKind:
		e.String = s.text(root)
	case types.IntKind:
		e.integer = s.integer(root)
	case types.ListKind:
		e.elements = s.elements(root)
	default:
	}
	e.Complete = s.complete && (e.Find != nil || e.Bool != nil || e.String != nil || e.integer != nil || e.elements != nil)
	return e
}

// cached caches the value of an expression for the pod. Lists are not cached, because iterating over the containers again is
// cheaper.
func cached(e Expression, number int) Expression {
	if evaluate := e.Bool; evaluate != nil {
		e.Bool = func(f *Frame) Truth {
			m := &f.cache[number]
			if !m.known {
				m.truth, m.known = evaluate(f), true
			}
			return m.truth
		}
	}
	if evaluate := e.integer; evaluate != nil {
		e.integer = func(f *Frame) (int64, bool) {
			m := &f.cache[number]
			if !m.known {
				m.int, m.decided = evaluate(f)
				m.known = true
			}
			return m.int, m.decided
		}
	}
	if evaluate := e.String; evaluate != nil {
		e.String = func(f *Frame) (string, bool) {
			m := &f.cache[number]
			if !m.known {
				m.string, m.decided = evaluate(f)
				m.known = true
			}
			return m.string, m.decided
		}
	}
	return e
}

// scope compiles one expression. Its methods return nil for unsupported expressions.
type scope struct {
	*Compiler

	tree *ast.AST
	// names are the variables of the enclosing loops, outermost first.
	names    []string
	complete bool
}

func (s *scope) kind(e ast.Expr) types.Kind { return s.tree.GetType(e.ID()).Kind() }

// local returns the slot of a loop's variable.
func (s *scope) local(name string) (int, bool) {
	for i, n := range slices.Backward(s.names) {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// variable returns the name of a variable that does not belong to a loop, or an empty string.
func (s *scope) variable(e ast.Expr) string {
	if e.Kind() != ast.IdentKind {
		return ""
	}
	name := e.AsIdent()
	if _, local := s.local(name); local {
		return ""
	}
	return name
}

// bool compiles an expression of type bool. An unsupported one is always undecided.
func (s *scope) bool(e ast.Expr) boolean {
	if b := s.tryBool(e); b != nil {
		return b
	}
	s.complete = false
	return undecided
}

func undecided(*Frame) Truth { return Undecided }
