package judging

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Judge judges the Pods of Jobs. It is not safe for concurrent use.
type Judge struct {
	// AsManaged is whether custom policies decide also in Jobs that podverdict's controller does not run, as if it did.
	AsManaged bool
	// Instead are rules in place of the Jobs' own, or nil.
	Instead *runtime.Program

	environment *compiler.Environment
	inForce     func(context.Context, *batchv1.Job) (binding.Selection, error)
	programs    Cache[*runtime.Program] // of the Jobs' own rules
}

// New returns a Judge for Jobs with rules of their own, and for the custom policies in force for a Job.
func New(environment *compiler.Environment, inForce func(context.Context, *batchv1.Job) (binding.Selection, error)) *Judge {
	return &Judge{environment: environment, inForce: inForce}
}

// Verdicts returns the verdicts on the Pods of a Job, in the order of the Pods. The Job must have the API's defaults. An error
// means that its own rules are not legal, or that the labels of its namespace are unknown.
func (j *Judge) Verdicts(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) ([]runtime.Verdict, error) {
	acting, selection, err := j.acting(ctx, job)
	if err != nil {
		return nil, err
	}
	family := NewFamily(ctx, job, pods, acting)
	if selection.ReadsAttempts() {
		family.Remember()
	}
	return family.Verdicts(), nil
}

// Rules returns the rules that decide on the failed Pods of a Job. The error is that of Verdicts.
func (j *Judge) Rules(ctx context.Context, job *batchv1.Job) (*runtime.Program, error) {
	acting, _, err := j.acting(ctx, job)
	return acting, err
}

func (j *Judge) acting(ctx context.Context, job *batchv1.Job) (*runtime.Program, binding.Selection, error) {
	own, err := j.own(job)
	if err != nil {
		return nil, binding.Selection{}, err
	}
	selection, err := j.inForce(ctx, job)
	if err != nil {
		return nil, selection, err
	}
	effect := selection.EffectIn(job, own)
	if j.AsManaged {
		effect = selection.Effect(own, true, v1alpha1.JobController)
	}
	return effect.Acting, selection, nil
}

// own returns the program of the Job's own rules, or of those that stand in for them.
func (j *Judge) own(job *batchv1.Job) (*runtime.Program, error) {
	if j.Instead != nil {
		return j.Instead, nil
	}
	policy := job.Spec.PodFailurePolicy
	return j.programs.Of(policy, func() (*runtime.Program, error) { return Compile(j.environment, policy) })
}

// Compile compiles a podFailurePolicy, which may be nil, to a program. An error says what is not legal.
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
