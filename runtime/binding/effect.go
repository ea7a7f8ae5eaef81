package binding

import (
	"cmp"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Manager returns the name of the controller that runs a Job: Kubernetes' own, unless
// spec.managedBy names another (KEP-4368).
func Manager(job *batchv1.Job) string {
	return cmp.Or(ptr.Deref(job.Spec.ManagedBy, ""), batchv1.JobControllerName)
}

// Effect says which rules take effect for the pods of a Job, and what the other ones
// would do.
type Effect struct {
	// Acting has the rules that decide on failed pods. Audited has all rules, as if every
	// policy were enforced and podverdict's controller ran the Job. Both are nil without rules.
	Acting, Audited *runtime.Program
	// Manager is the name of the controller that runs the Job, and carries the verdicts of
	// Acting out.
	Manager string

	selection Selection
	idle      []idleRules
}

// idleRules are the rules of Acting and more of them, and why nobody carries their
// verdicts out.
type idleRules struct {
	program       *runtime.Program
	audits        bool
	notCarriedOut string
}

// Effect decides which rules take effect in a Job, by the name of the controller that runs
// the Job. The Job's own rules, which are nil if it has none, always do: every controller
// is taken to carry out the Job API. Of the policies in force, those that enforce do where
// podverdict's controller runs the Job, and nowhere else.
func (s Selection) Effect(manager string, own *runtime.Program) Effect {
	e := Effect{Acting: own, Audited: s.program(own, true), Manager: manager, selection: s}
	enforced := s.program(own, false)
	switch {
	case manager == v1alpha1.JobController:
		e.Acting = enforced
	case enforced != own:
		e.idle = append(e.idle, idleRules{enforced, false, powerless(manager, v1alpha1.ModeEnforce)})
	}
	if s.Audits() {
		e.idle = append(e.idle, idleRules{e.Audited, true, powerless(manager, v1alpha1.ModeAudit)})
	}
	return e
}

// powerless says why nobody carries out the verdicts on failed pods of a policy that is
// bound in a mode to a Job. It is empty if they take effect.
func powerless(manager string, mode v1alpha1.Mode) string {
	runBy := "the Job is run by " + manager
	switch managed := manager == v1alpha1.JobController; {
	case mode == v1alpha1.ModeAudit && managed:
		return "the binding has mode Audit"
	case mode == v1alpha1.ModeAudit:
		return "the binding has mode Audit, and " + runBy
	case managed:
		return ""
	}
	return runBy
}

// Would is a verdict that nobody carries out.
type Would struct {
	Verdict runtime.Verdict `json:"verdict"`
	// Policy is the name of the policy whose rule decides. It is empty if none does.
	Policy string `json:"policy,omitempty"`
	// NotCarriedOut says why not.
	NotCarriedOut string `json:"notCarriedOut"`

	program *runtime.Program // whose verdict it is; nil for a rule on Pending
}

// Explain returns the rule that decides, else the first one that cannot be evaluated, or
// nil. It has none for a rule on Pending, which ExplainPending explains. The error is that
// of a context which is done.
func (w Would) Explain(ctx context.Context, in runtime.Input) (*runtime.RuleExplanation, error) {
	if w.program == nil {
		return nil, nil //nolint:nilnil // there is nothing more to say
	}
	explanation, err := w.program.Explain(ctx, in)
	var broken *runtime.RuleExplanation
	for i := range explanation.Rules {
		switch rule := &explanation.Rules[i]; {
		case rule.Decides():
			return rule, err
		case rule.Outcome == runtime.OutcomeError && broken == nil:
			broken = rule
		}
	}
	return broken, err
}

// String returns the verdict and why nobody carries it out, as a sentence.
func (w Would) String() string { return w.Sentence(w.Brief()) }

// Sentence returns String with another text for the verdict.
func (w Would) Sentence(verdict string) string {
	return fmt.Sprintf("would: %s; nobody carries it out: %s", verdict, w.NotCarriedOut)
}

// Brief returns the verdict and its rule, or its error.
func (w Would) Brief() string {
	switch v := w.Verdict; {
	case v.Policy != "":
		return fmt.Sprintf("%s by %s of policy %s", v.Action, v.RuleName, v.Policy)
	case v.Matched:
		return fmt.Sprintf("%s by %s", v.Action, v.Subject())
	case v.Err != nil:
		return fmt.Sprintf("%s, because of an error: %v", v.Action, v.Err)
	default:
		return string(v.Action)
	}
}

// Beside is what is said of a pod beside its verdict.
type Beside struct {
	// Would are the verdicts that nobody carries out. Each differs from the one before it,
	// and the first from the verdict: as if podverdict's controller ran the Job, as if all
	// policies were also enforced, and that of a rule on Pending.
	Would []Would
	// Audit is the one of Would as if all policies were enforced, or nil.
	Audit *runtime.Verdict
	// Pending is what a rule on Pending says of a pod in that phase, or nil. Deleted is true
	// if the pod is to be deleted because of it, which happens in Jobs of every manager.
	Pending *runtime.Verdict
	Deleted bool
}

// Beside returns what is said of a pod beside the verdict that takes effect.
func (e Effect) Beside(ctx context.Context, in runtime.Input, verdict runtime.Verdict) Beside {
	var b Beside
	last := verdict
	for _, rules := range e.idle {
		v := rules.program.Judge(ctx, in)
		if v.Equal(last) {
			continue
		}
		b.Would, last = append(b.Would, Would{v, v.Policy, rules.notCarriedOut, rules.program}), v
		if rules.audits {
			b.Audit = &v
		}
	}
	if in.Pod.Status.Phase == corev1.PodPending {
		e.addPending(ctx, in, &b)
	}
	return b
}

// addPending adds what a rule on Pending says. A rule that ends the pod comes first.
func (e Effect) addPending(ctx context.Context, in runtime.Input, b *Beside) {
	v, by := e.selection.EndedPending(ctx, in)
	if by == nil {
		v, by = e.selection.Pending(ctx, in)
	}
	if by == nil && v.Err == nil {
		return
	}
	b.Pending = &v
	if !v.Matched {
		return
	}
	b.Deleted = deletes(by) && by.Spec.Mode != v1alpha1.ModeAudit
	why := powerless(e.Manager, by.Spec.Mode)
	if !deletes(by) {
		why = "the binding has pendingPods Ignore"
	}
	if why != "" {
		b.Would = append(b.Would, Would{v, v.Policy, why, nil})
	}
}

// Idle is a policy in force whose verdicts on failed pods nobody carries out, and why.
type Idle struct {
	Policy, Binding, NotCarriedOut string
}

// Idle returns the policies with rules on failed pods whose verdicts nobody carries out.
func (e Effect) Idle() []Idle {
	var all []Idle
	for policy, bound := range e.selection.All() {
		if why := powerless(e.Manager, bound.Spec.Mode); why != "" && OnFailed(policy) {
			all = append(all, Idle{policy.Name, bound.Name, why})
		}
	}
	return all
}

// OnFailed reports whether a policy has a rule on failed pods.
func OnFailed(p *runtime.Policy) bool {
	for i := range p.Rules {
		if p.Rules[i].Phase != corev1.PodPending {
			return true
		}
	}
	return false
}
