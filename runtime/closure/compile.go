package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/schema"
)

// Closures of the kinds of values that are known. All but boolean say with their
// second result whether they decide.
type (
	boolean  func(*Frame) Truth
	integer  func(*Frame) (int64, bool)
	text     func(*Frame) (string, bool)
	duration func(*Frame) (int64, bool) // nanoseconds
)

// Expression is a checked expression as closures, of which the one of its type is
// there if the expression is known at all.
type Expression struct {
	Bool   func(*Frame) Truth
	String func(*Frame) (string, bool)
	// Find says what in the pod's status makes the expression true. It is there for
	// expressions that ask just for that, and needs no frame.
	Find func(*corev1.PodStatus) Element
	// Complete is whether all of the expression is known: it is then undecided only
	// where CEL errs.
	Complete bool

	integer  integer
	elements *elements
}

// Compiler compiles the expressions of one policy. Variables are compiled before
// those that use them.
type Compiler struct {
	schema    *schema.Schema
	variables map[string]Expression
}

// NewCompiler compiles expressions over the schema's Pod and Job, by the names that
// package custom gives them: pod, job, attempt, now and variables.NAME.
func NewCompiler(s *schema.Schema) *Compiler {
	return &Compiler{schema: s, variables: map[string]Expression{}}
}

// Define makes an expression a variable, by its whole name, as in variables.oom.
func (c *Compiler) Define(name string, e Expression) {
	c.variables[name] = remembered(e, len(c.variables))
}

// Compile makes closures of a checked expression.
func (c *Compiler) Compile(tree *ast.AST) Expression {
	s := &scope{Compiler: c, tree: tree, complete: true}
	var e Expression
	switch root := tree.Expr(); tree.GetType(root.ID()).Kind() {
	case types.BoolKind:
		if find := s.finder(root); find != nil {
			e.Find = find
			e.Bool = func(f *Frame) Truth { return truth(find(&f.Pod.Status) != Element{}) }
		} else {
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
	e.Complete = s.complete && (e.Bool != nil || e.String != nil || e.integer != nil || e.elements != nil)
	return e
}

// remembered evaluates an expression once for a pod. Lists are not kept: to go
// through the pod's containers again costs less.
func remembered(e Expression, number int) Expression {
	if evaluate := e.Bool; evaluate != nil {
		e.Bool = func(f *Frame) Truth {
			m := &f.memory[number]
			if !m.known {
				m.truth, m.known = evaluate(f), true
			}
			return m.truth
		}
	}
	if evaluate := e.integer; evaluate != nil {
		e.integer = func(f *Frame) (int64, bool) {
			m := &f.memory[number]
			if !m.known {
				m.int, m.decided = evaluate(f)
				m.known = true
			}
			return m.int, m.decided
		}
	}
	if evaluate := e.String; evaluate != nil {
		e.String = func(f *Frame) (string, bool) {
			m := &f.memory[number]
			if !m.known {
				m.string, m.decided = evaluate(f)
				m.known = true
			}
			return m.string, m.decided
		}
	}
	return e
}

// scope compiles one expression. Its methods return nil for what they do not know.
type scope struct {
	*Compiler

	tree *ast.AST
	// names are the variables of the comprehensions around, from the outermost.
	names    []string
	complete bool
}

func (s *scope) kind(e ast.Expr) types.Kind { return s.tree.GetType(e.ID()).Kind() }

// local is the number of a comprehension's variable.
func (s *scope) local(name string) (int, bool) {
	for i, n := range slices.Backward(s.names) {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// variable is the name of one that is the same for all of the expression, unless a
// comprehension calls its own so.
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

// bool is an expression of type bool. What is not known is undecided.
func (s *scope) bool(e ast.Expr) boolean {
	if b := s.tryBool(e); b != nil {
		return b
	}
	s.complete = false
	return undecided
}

func undecided(*Frame) Truth { return Undecided }
