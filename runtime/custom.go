package runtime

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// CustomPolicy is a PodFailurePolicy (podverdict.io) that can be part of a Program:
// its compiled expressions, and what its rules do. It is immutable and safe for
// concurrent use.
type CustomPolicy struct {
	Name     string
	Rules    []v1alpha1.Rule
	Compiled *custom.Policy
	// FailurePolicy is what happens when a match condition or a rule cannot be
	// evaluated.
	FailurePolicy v1alpha1.FailurePolicy

	// failed is why no rule can be evaluated for the Job, or nil.
	failed *PolicyError
}

// NewCustomPolicy compiles a policy, which has the API's defaults and must not change
// afterwards. The error is that of custom.Environment.Compile.
func NewCustomPolicy(e *custom.Environment, policy *v1alpha1.PodFailurePolicy) (*CustomPolicy, error) {
	compiled, err := e.Compile(&policy.Spec)
	if err != nil {
		return nil, err
	}
	return &CustomPolicy{
		Name: policy.Name, Rules: policy.Spec.Rules, Compiled: compiled, FailurePolicy: policy.Spec.FailurePolicy,
	}, nil
}

// Failing returns the policy as it is for a Job for which a match condition cannot be
// evaluated, if its failurePolicy is Fail: each of its rules has that error.
func (c *CustomPolicy) Failing(condition error) *CustomPolicy {
	failing := *c
	failing.failed = c.policyError(condition)
	return &failing
}

// NewLastGood compiles the version of a policy that its status keeps: while the spec does
// not compile, this is in force. It must be older than the spec, and is held to what the
// schema says, because the API server has not done so.
func NewLastGood(e *custom.Environment, policy *v1alpha1.PodFailurePolicy) (*CustomPolicy, error) {
	if kept := policy.Status.LastGood; kept == nil || kept.Generation >= policy.Generation {
		return nil, errNoLastGood
	}
	last := policy.DeepCopy()
	last.Spec = last.Status.LastGood.Spec
	last.SetDefaults()
	if invalid := last.Validate(); len(invalid) > 0 {
		return nil, invalid.ToAggregate()
	}
	return NewCustomPolicy(e, last)
}

// Join is a Program of one ordered list of rules: those of the policies before, in
// order, those of the Job's own podFailurePolicy, and those of the policies after.
// Own is nil for a Job without one. Whether the policies apply to the Job was asked
// before (custom.Policy.Applies).
func Join(before []*CustomPolicy, own *Program, after []*CustomPolicy) *Program {
	joined := Program{}
	if own != nil {
		joined = *own
	}
	joined.before, joined.after = before, after
	return &joined
}

// judge is the verdict of the first rule that matches, if one does, or that of an error
// that decides. An error that is ignored is in the verdict, also if nothing is decided.
func (c *CustomPolicy) judge(ctx context.Context, in custom.Input) (v Verdict, decided bool) {
	if c.failed != nil {
		return c.judgeFailing(in.Pod)
	}
	match, err := c.Compiled.Evaluate(ctx, in)
	switch {
	case err != nil:
		return Failure(in.Pod, c.policyError(err)), true
	case match.Rule != custom.NoRule:
		v, decided = c.verdict(in.Pod, match), true
	}
	if match.Ignored != nil {
		v.Err = c.policyError(match.Ignored)
	}
	return v, decided
}

// judgeFailing decides as the first rule about the pod's phase would with its error.
func (c *CustomPolicy) judgeFailing(pod *corev1.Pod) (v Verdict, decided bool) {
	if !slices.ContainsFunc(c.Rules, func(r v1alpha1.Rule) bool { return r.Phase == pod.Status.Phase }) {
		return Verdict{}, false
	}
	return Failure(pod, c.failed), true
}

func (c *CustomPolicy) verdict(pod *corev1.Pod, match custom.Match) Verdict {
	rule := &c.Rules[match.Rule]
	v := matched(pod, match.Rule, rule.Action)
	v.Policy, v.RuleName, v.Reason = c.Name, rule.Name, rule.Reason
	v.detail, v.MessageErr = match.Message, match.MessageErr
	if b := rule.Budget; b != nil {
		v.Budget = Budget{Limit: b.Limit, Per: b.Per, Then: b.Then}
	}
	if rule.RetryDelay != nil {
		v.RetryDelay = &rule.RetryDelay.Duration
	}
	return v
}

// Pending is the verdict of the first rule on Pending that matches a pod in that
// phase: what the failure of the pod will mean when it is ended because of it. There
// is none when no rule matches; an error is in the verdict, and matches nothing. It
// decides if the policy's failurePolicy is Fail.
func (c *CustomPolicy) Pending(ctx context.Context, in custom.Input) (v Verdict, decided bool) {
	if in.Pod.Status.Phase != corev1.PodPending {
		return NotTerminal(in.Pod), false
	}
	return c.judge(ctx, in)
}

// customMessage is the sentence of a custom rule. JobSet and others match regular
// expressions over such messages: what is fixed comes first.
func (v Verdict) customMessage() string {
	var b strings.Builder
	b.WriteString("Pod " + v.namespace + "/" + v.pod + " matching " + string(v.Action) +
		" rule " + v.RuleName + " of PodFailurePolicy " + v.Policy)
	if v.usedUp {
		b.WriteString(" after its budget of " + v.Budget.String())
	}
	if said := v.Says(); said != "" {
		b.WriteString(": " + said)
	}
	return b.String()
}

// Says is what a custom rule says for itself: its reason and its message, if it has
// them.
func (v Verdict) Says() string {
	if v.Reason == "" || v.detail == "" {
		return v.Reason + v.detail
	}
	return v.Reason + ": " + v.detail
}

// Subject names the rule that decided, as people would: by its index, or by its name
// and its policy's.
func (v Verdict) Subject() string {
	return ruleSubject(v.Policy, v.RuleName, v.Rule)
}
