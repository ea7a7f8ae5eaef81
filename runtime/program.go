package runtime

import (
	"sync"

	"github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/podverdict/podverdict/compiler"
)

// Options of a Program. The zero value is what everybody wants.
type Options struct {
	// DisableSpecialization evaluates every rule by CEL's ordinary interpreter.
	// The verdicts are the same; it is there to prove that.
	DisableSpecialization bool
}

// Program is rules ready to be evaluated: those of a Job's podFailurePolicy, and of
// custom policies before and after them. It is immutable and safe for concurrent use.
type Program struct {
	before, after []*CustomPolicy

	policy      *compiler.Policy
	environment *compiler.Environment
	rules       []rule
	// interpreted is every rule's program for CEL's ordinary interpreter, made
	// when it is first needed: a small policy is held in less than a kilobyte, its
	// expressions would take many times that.
	interpreted func() ([]cel.Program, error)
	// traced is the same for Explain.
	traced func() ([]tracedRule, error)
}

// rule is evaluated by its node, or by the interpreter when it is not special.
type rule struct {
	compiler.Rule
	node    node
	special bool
}

// NewProgram plans the expressions of a compiled policy. Those that the compiler
// wrote are recognized and evaluated by nodes of our own, all others by CEL's
// interpreter.
func NewProgram(c *compiler.Compiled, o Options) (*Program, error) {
	p := &Program{policy: c.Policy, environment: c.Environment, rules: make([]rule, len(c.Rules))}
	p.traced = sync.OnceValues(p.trace)
	interpret := false
	for i, r := range c.Rules {
		m, recognized := compiler.Recognize(r.AST.Expr())
		if !recognized {
			m = r.Match // says what matched when the expression is true
		}
		special := recognized && !o.DisableSpecialization
		p.rules[i] = rule{Rule: r.Rule, node: newNode(m), special: special}
		interpret = interpret || !special
	}
	if interpret {
		programs, err := plan(c)
		p.interpreted = func() ([]cel.Program, error) { return programs, err }
		return p, err
	}
	p.interpreted = sync.OnceValues(p.plan)
	return p, nil
}

// plan compiles the policy once more: compiling is deterministic, and the
// expressions are not kept.
func (p *Program) plan() ([]cel.Program, error) {
	c, err := p.environment.Compile(p.policy)
	if err != nil {
		return nil, err
	}
	return plan(c)
}

// plan makes a program of each rule with the options of the API server: cost
// tracked and limited, and stopped when the context is done.
func plan(c *compiler.Compiled) ([]cel.Program, error) {
	programs := make([]cel.Program, len(c.Rules))
	for i, r := range c.Rules {
		program, err := c.Environment.CEL.PlanProgram(r.AST, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
		if err != nil {
			return nil, errPlan(i, err)
		}
		programs[i] = program
	}
	return programs, nil
}
