package snapshot

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Rules are the compiled rules for a Job: its own, and the custom policies in effect.
type Rules struct {
	// Policy is the Job's podFailurePolicy, or its replacement in a trial; nil if there is none. Own is its program, or nil.
	Policy *batchv1.PodFailurePolicy
	Own    *runtime.Program
	// Selection holds the custom policies in effect. Effect determines which of all these rules decide.
	Selection binding.Selection
	Effect    binding.Effect
}

// Managed returns the rules that would decide if podverdict's controller ran the Job.
func (r *Rules) Managed() *runtime.Program {
	return r.Selection.Effect(r.Own, true, v1alpha1.JobController).Acting
}

// None reports whether no rule decides: the Job has no podFailurePolicy, and no custom policy has an effect.
func (r *Rules) None() bool { return r.Policy == nil && r.Effect.Acting == r.Own }

// Rulebook finds the rules for Jobs. It is safe for concurrent use if InEffect is.
type Rulebook struct {
	// Environment compiles the Jobs' own rules.
	Environment *compiler.Environment
	// InEffect returns the custom policies in effect for a Job.
	InEffect func(context.Context, *batchv1.Job) (binding.Selection, error)
	// Instead, if not nil, is a Job whose podFailurePolicy, present or absent, replaces the policy of every Job.
	Instead *batchv1.Job
	// AsManaged lets custom policies decide also in Jobs that podverdict's controller does not run.
	AsManaged bool

	programs runtime.PolicyCache[*runtime.Program]
}

// NewRulebook returns a Rulebook that uses the Jobs' own rules and the custom policies in effect.
func NewRulebook(environment *compiler.Environment, inEffect func(context.Context, *batchv1.Job) (binding.Selection, error)) *Rulebook {
	return &Rulebook{Environment: environment, InEffect: inEffect}
}

// For returns the rules for a Job. The Job must have the API's defaults. For returns an error if the Job's own rules are invalid
// (wrapping a *compiler.PolicyError) or if InEffect fails.
func (b *Rulebook) For(ctx context.Context, job *batchv1.Job) (Rules, error) {
	r := Rules{Policy: job.Spec.PodFailurePolicy}
	if b.Instead != nil {
		r.Policy = b.Instead.Spec.PodFailurePolicy
	}
	var err error
	if r.Own, err = b.programs.Get(r.Policy, b.compile); err != nil {
		return r, err
	}
	if r.Selection, err = b.InEffect(ctx, job); err != nil {
		return r, err
	}
	if r.Effect = r.Selection.EffectIn(job, r.Own); b.AsManaged {
		r.Effect = r.Selection.Effect(r.Own, true, v1alpha1.JobController)
	}
	return r, nil
}

// RulesIn returns the rules for a Job of a cluster: its own, compiled or nil, and the custom policies in effect.
func RulesIn(job *batchv1.Job, own *runtime.Program, selection binding.Selection) Rules {
	return Rules{Policy: job.Spec.PodFailurePolicy, Own: own, Selection: selection, Effect: selection.EffectIn(job, own)}
}

func (b *Rulebook) compile(policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	return Compile(b.Environment, policy)
}

// Compile compiles a podFailurePolicy, which may be nil, to a program. It returns an error if the policy is invalid.
func Compile(environment *compiler.Environment, policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	legal, err := compiler.NewPolicy(policy)
	if err != nil {
		return nil, err
	}
	compiled, err := environment.Compile(legal)
	if err != nil {
		return nil, err
	}
	return runtime.NewProgram(compiled), nil
}
