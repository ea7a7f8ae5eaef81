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

// Manager returns the name of the controller that runs a Job: Kubernetes' own, unless spec.managedBy names another (KEP-4368).
func Manager(job *batchv1.Job) string {
	return cmp.Or(ptr.Deref(job.Spec.ManagedBy, ""), batchv1.JobControllerName)
}

// Effect describes which rules take effect for the pods of a Job, and what the other rules would do.
type Effect struct {
	// Acting has the rules that decide on failed pods. Audited has all rules, as if every policy were enforced and carried out.
	// Both are nil without rules.
	Acting, Audited *runtime.Program
	// Enforced reports whether the Job's manager carries out the verdicts of enforced policies.
	Enforced bool
	// Manager is the name of the controller that runs the Job and carries out the verdicts of Acting.
	Manager string

	selection Selection
	idle      []idleRules
}

// idleRules is a program of the rules of Acting and additional rules, and the reason why the verdicts of the additional rules
// do not take effect.
type idleRules struct {
	program       *runtime.Program
	audits        bool
	notCarriedOut string
}

// EffectIn returns the rules that take effect in a Job of a cluster, in addition to its own: the enforced policies do if
// podverdict's controller runs the Job.
func (s Selection) EffectIn(job *batchv1.Job, own *runtime.Program) Effect {
	by := runBy(job)
	return s.Effect(own, by.Enforced, by.Manager)
}

// runBy returns the Effect of a Job of a cluster without any rules.
func runBy(job *batchv1.Job) Effect {
	manager := Manager(job)
	return Effect{Enforced: manager == v1alpha1.JobController, Manager: manager}
}

// Effect determines which rules take effect in a Job. Its own rules, which may be nil, always do: every controller is assumed
// to implement the Job API. Enforced policies take effect if enforced reports that the manager carries out their verdicts. The
// manager's name is only used in messages.
func (s Selection) Effect(own *runtime.Program, enforced bool, manager string) Effect {
	e := Effect{Acting: own, Audited: s.program(own, true), Enforced: enforced, Manager: manager, selection: s}
	all := s.program(own, false)
	switch {
	case enforced:
		e.Acting = all
	case all != own:
		e.idle = append(e.idle, idleRules{all, false, e.powerless(v1alpha1.ModeEnforce)})
	}
	if s.Audits() {
		e.idle = append(e.idle, idleRules{e.Audited, true, e.powerless(v1alpha1.ModeAudit)})
	}
	return e
}

// powerless returns the reason why the verdicts of a bound policy on failed pods do not take effect, or an empty string if they
// do.
func (e Effect) powerless(mode v1alpha1.Mode) string {
	runBy := "the Job is run by " + e.Manager
	switch {
	case mode == v1alpha1.ModeAudit && e.Enforced:
		return "the binding has mode Audit"
	case mode == v1alpha1.ModeAudit:
		return "the binding has mode Audit, and " + runBy
	case e.Enforced:
		return ""
	}
	return runBy
}

// Would is a verdict that does not take effect.
type Would struct {
	Verdict runtime.Verdict `json:"verdict"`
	// Policy is the name of the policy whose rule decides, or empty if none does.
	Policy string `json:"policy,omitempty"`
	// NotCarriedOut explains why the verdict does not take effect.
	NotCarriedOut string `json:"notCarriedOut"`

	program *runtime.Program // the verdict's program; nil for a rule on living pods
}

// Explain returns the explanation of the rule that decides, or else of the first one with an error, or nil. For a rule on
// living pods it returns nil; ExplainLiving explains those. It returns an error if the context is done.
func (w Would) Explain(ctx context.Context, in runtime.Input) (*runtime.RuleExplanation, error) {
	if w.program == nil {
		return nil, nil //nolint:nilnil // there is nothing to explain
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

// String returns the verdict and the reason why it does not take effect, as a sentence.
func (w Would) String() string { return w.Sentence(w.Brief()) }

// Sentence is like String, with another text for the verdict.
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

// Beside holds the verdicts on a pod in addition to the one that takes effect.
type Beside struct {
	// Would are the verdicts that do not take effect: first as if podverdict's controller ran the Job, then as if all policies
	// were also enforced, then the verdict of a rule on living pods. It includes only verdicts that differ from the preceding
	// one.
	Would []Would
	// Audit is the verdict in Would as if all policies were enforced, or nil.
	Audit *runtime.Verdict
	// Living is the verdict of a rule on a living pod, or nil. Ended reports whether the pod must be ended because of it, which
	// happens in Jobs of every manager; if it must not, Spared is the reason.
	Living *runtime.Verdict
	Ended  bool
	Spared string
	// Condition is the type of the condition that its rule sets.
	Condition corev1.PodConditionType
}

// Beside returns the verdicts on a pod in addition to the one that takes effect.
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
	if v1alpha1.Lives(v1alpha1.PhaseOf(in.Pod)) {
		e.addLiving(ctx, in, &b)
	}
	return b
}

// addLiving adds the verdict of a rule on a living pod, preferably of a rule that ends the pod.
func (e Effect) addLiving(ctx context.Context, in runtime.Input, b *Beside) {
	v := e.selection.Living(ctx, in, false)
	if v.Binding == nil && v.Err == nil {
		return
	}
	b.Living = &v.Verdict
	if !v.Matched {
		return
	}
	b.Condition = v.Policy.Rules[v.Rule].ConditionType()
	b.Spared = v.spares(in)
	b.Ended = b.Spared == ""
	why := e.powerless(v.Binding.Spec.Mode)
	if !b.Ended && v.Binding.Spec.Mode != v1alpha1.ModeAudit {
		why = b.Spared
	}
	if why != "" {
		b.Would = append(b.Would, Would{v.Verdict, v.Verdict.Policy, why, nil})
	}
}

// Idle is a policy in effect whose verdicts on failed pods do not take effect, with the reason.
type Idle struct {
	Policy, Binding, NotCarriedOut string
}

// Idle returns the policies with rules on failed pods whose verdicts do not take effect.
func (e Effect) Idle() []Idle {
	var all []Idle
	for policy, bound := range e.selection.All() {
		if why := e.powerless(bound.Spec.Mode); why != "" && OnFailed(policy) {
			all = append(all, Idle{policy.Name, bound.Name, why})
		}
	}
	return all
}

// OnFailed reports whether a policy has a rule on failed pods.
func OnFailed(p *runtime.Policy) bool {
	for i := range p.Rules {
		if !v1alpha1.Lives(p.Rules[i].Phase) {
			return true
		}
	}
	return false
}
