package runtime

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/internal/closure"
)

// Policy is a list of rules ready for evaluation: a Job's own podFailurePolicy, or a PodFailurePolicy (podverdict.io). It is
// immutable and safe for concurrent use.
type Policy struct {
	// Name is the PodFailurePolicy's name. It is empty for a Job's own podFailurePolicy.
	Name string
	// Rules are the rules as written in the PodFailurePolicy.
	Rules []v1alpha1.Rule
	// Compiled is the compiler's result for the PodFailurePolicy.
	Compiled *custom.Policy
	// FailurePolicy decides how an error in a match condition or a rule is treated.
	FailurePolicy v1alpha1.FailurePolicy

	// own is the Job's podFailurePolicy, or nil.
	own *ownPolicy

	conditions []*expression
	variables  []variable
	// onFailed are the rules on pods in phase Failed; onLiving maps the phases of living pods to their rules.
	onFailed []rule
	onLiving map[corev1.PodPhase][]rule
	// variableNumbers maps variables.NAME to the index in variables.
	variableNumbers map[string]int
	// finds reports whether closures decide every rule of a podFailurePolicy, so that no rule can fail. It is true for
	// everything that the compiler generates.
	finds bool
	// interpret disables closures. Tests use it to compare them with CEL's interpreter.
	interpret bool
	// failed, if not nil, is the error that every rule has for this Job.
	failed *PolicyError
}

// ownPolicy is the podFailurePolicy that a Policy was compiled from.
type ownPolicy struct {
	policy      *compiler.Policy
	environment *compiler.Environment
}

// rule is a rule of either kind. Its number is its index in the policy.
type rule struct {
	number int
	action batchv1.PodFailurePolicyAction
	// find is the closure that evaluates when and returns the matching element. It is nil for expressions that do more than
	// search the pod's status.
	find func(*corev1.PodStatus) closure.Element
	when *expression
	// message is the messageExpression, or nil if the rule has none.
	message *expression
}

type variable struct {
	name string
	*expression
}

// NewCustomPolicy compiles a policy. The policy must have the API's defaults and must not
// change afterwards. It returns the error of custom.Compile.
func NewCustomPolicy(e *compiler.Environment, policy *v1alpha1.PodFailurePolicy) (*Policy, error) {
	compiled, trees, err := custom.CompileTrees(e, &policy.Spec)
	if err != nil {
		return nil, err
	}
	p := &Policy{
		Name: policy.Name, Rules: policy.Spec.Rules, Compiled: compiled, FailurePolicy: policy.Spec.FailurePolicy,
		onLiving: map[corev1.PodPhase][]rule{}, variableNumbers: map[string]int{},
	}
	closures := closure.NewCompiler(e.Schema)
	for _, x := range compiled.Conditions {
		p.conditions = append(p.conditions, newExpression(closures, x, trees[x]))
	}
	for i, v := range compiled.Variables {
		x := newExpression(closures, v.Expression, trees[v.Expression])
		closures.Define(custom.VariableName(v.Name), x.closure)
		p.variables = append(p.variables, variable{custom.VariableName(v.Name), x})
		p.variableNumbers[custom.VariableName(v.Name)] = i
	}
	for i, r := range compiled.Rules {
		p.add(closures, i, r, trees)
	}
	return p, nil
}

func (p *Policy) add(closures *closure.Compiler, i int, r custom.Rule, trees custom.Trees) {
	added := rule{number: i, action: p.Rules[i].Action, when: newExpression(closures, r.When, trees[r.When])}
	added.find = added.when.closure.Find
	if r.Message != nil {
		added.message = newExpression(closures, r.Message, trees[r.Message])
	}
	if v1alpha1.Lives(r.Phase) {
		p.onLiving[r.Phase] = append(p.onLiving[r.Phase], added)
	} else {
		p.onFailed = append(p.onFailed, added)
	}
}

// NewLastGood compiles the older version of a policy that its status stores, which stays in effect while the spec does not
// compile. It also validates that version, because the API server does not.
func NewLastGood(e *compiler.Environment, policy *v1alpha1.PodFailurePolicy) (*Policy, error) {
	if kept := policy.Status.LastGood; kept == nil || kept.Generation >= policy.Generation {
		return nil, errors.New("the status keeps no older version of the policy")
	}
	last := policy.DeepCopy()
	last.Spec = last.Status.LastGood.Spec
	last.SetDefaults()
	if invalid := last.Validate(); len(invalid) > 0 {
		return nil, invalid.ToAggregate()
	}
	return NewCustomPolicy(e, last)
}

// newOwnPolicy compiles the closures of a podFailurePolicy.
func newOwnPolicy(c *compiler.Compiled) *Policy {
	own := &ownPolicy{c.Policy, c.Environment}
	p := &Policy{own: own, FailurePolicy: v1alpha1.FailurePolicyFail, finds: true, onFailed: make([]rule, len(c.Rules))}
	closures := closure.NewCompiler(c.Environment.Schema)
	for i := range c.Rules {
		when := &expression{closure: closures.Compile(c.Rules[i].AST), check: func() (checked, error) { return own.check(i) }}
		p.onFailed[i] = rule{number: i, action: c.Rules[i].Action, find: when.closure.Find, when: when}
		p.finds = p.finds && when.closure.Find != nil
	}
	return p
}

// check compiles a rule again, with the same result. Not caching it reduces a small policy to one kilobyte.
func (o *ownPolicy) check(rule int) (checked, error) {
	c, err := o.environment.Compile(&compiler.Policy{Rules: o.policy.Rules[rule : rule+1]})
	if err != nil {
		return checked{}, err
	}
	return checked{o.environment.FailedRules, c.Rules[0].AST, c.Rules[0].Match}, nil
}

// Interpreted returns the policy without closures: CEL's interpreter evaluates it.
func (p *Policy) Interpreted() *Policy {
	interpreted := *p
	interpreted.finds, interpreted.interpret = false, true
	return &interpreted
}

// Failing returns a copy of the policy in which every rule has the given error. It is in effect for a Job if a match
// condition has an error and the failurePolicy is Fail.
func (p *Policy) Failing(condition error) *Policy {
	failing := *p
	failing.failed = p.policyError(condition)
	return &failing
}

// Applies reports whether all match conditions are true for a Job. As in
// ValidatingAdmissionPolicy, it is false if any condition is false, even if another one has
// an error. Otherwise it returns the first error, and the caller consults the policy's
// failurePolicy.
func (p *Policy) Applies(ctx context.Context, job *batchv1.Job) (bool, error) {
	if len(p.conditions) == 0 {
		return true, nil
	}
	e := p.begin(ctx, Input{Pod: &noPod, Job: job})
	defer e.end()
	var failed error
	for i := range p.conditions {
		matched, err := e.bool(p.conditions[i])
		switch {
		case err != nil && failed == nil:
			failed = err
		case err == nil && !matched:
			return false, nil
		}
	}
	return failed == nil, failed
}

// ReadsAttempts reports whether rules of a PodFailurePolicy read earlier attempts.
func (p *Policy) ReadsAttempts() bool { return p.Compiled != nil && p.Compiled.ReadsAttempts }

// about returns the rules for the phase of a pod.
func (p *Policy) about(pod *corev1.Pod) []rule {
	if pod.Status.Phase == corev1.PodFailed {
		return p.onFailed
	}
	return p.onLiving[v1alpha1.PhaseOf(pod)]
}

// match is a policy's result for a pod.
type match struct {
	// rule is the first rule that matches, or nil.
	rule *rule
	// element is the container or condition that a podFailurePolicy's rule matches.
	element closure.Element
	// message is the value of the rule's messageExpression, messageErr its error.
	message    string
	messageErr error
	// err is the error that ended the evaluation. ignored is the first error after which more rules were tried.
	err, ignored error
}

// match tries the rules for the pod's phase in order, and the first one that matches decides. A rule with an error does not
// match, and the next one is tried. If the policy's failurePolicy is Fail or the context is done, an error ends the
// evaluation.
func (p *Policy) match(ctx context.Context, in Input) (m match) {
	rules := p.about(in.Pod)
	if p.failed != nil && len(rules) > 0 {
		m.err = p.failed
		return m
	}
	e := p.begin(ctx, in)
	defer e.end()
	for i := range rules {
		matched, err := e.bool(rules[i].when)
		if matched && p.own != nil {
			m.element, err = e.find(&rules[i])
		}
		switch {
		case err != nil && (p.FailurePolicy == v1alpha1.FailurePolicyFail || ctx.Err() != nil):
			m.err = err
			return m
		case err != nil && m.ignored == nil:
			m.ignored = err
		case matched:
			m.rule = &rules[i]
			if m.rule.message != nil {
				m.message, m.messageErr = e.message(m.rule.message)
			}
			return m
		}
	}
	return m
}

// find returns the first rule of a podFailurePolicy that matches, and the element that it matches.
func (p *Policy) find(status *corev1.PodStatus) (*rule, closure.Element) {
	for i := range p.onFailed {
		if element := p.onFailed[i].find(status); element != (closure.Element{}) {
			return &p.onFailed[i], element
		}
	}
	return nil, closure.Element{}
}
