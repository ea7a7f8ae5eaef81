package suites

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// rulebook holds the compiled policies of a suite and their bindings.
type rulebook struct {
	policies    []*runtime.Policy // in the order of the files
	bound       *effective.Policies
	environment *compiler.Environment
	gates       restart.Gates
}

// newRulebook compiles the policies of a suite. A binding to a missing policy is an error in a suite.
func newRulebook(set *manifest.Set, environment *compiler.Environment) (*rulebook, error) {
	source := effective.FromFiles(set)
	bound, err := effective.New(environment, source)
	errs := []error{err}
	for _, b := range source.Missing() {
		errs = append(errs, b.Origin.Error("spec.policyName", effective.BindsNothing(b)))
	}
	gates := restart.GatesOf(version.MustParseGeneric(environment.Kubernetes))
	r := &rulebook{bound: bound, environment: environment, gates: gates}
	for i := range bound.All {
		r.policies = append(r.policies, bound.All[i].Compiled)
	}
	return r, errors.Join(errs...)
}

// judge returns the rules that apply to a Job.
func (r *rulebook) judge(ctx context.Context, given manifest.Job) (*judge, error) {
	if len(given.Object.Spec.Template.Spec.Containers) == 0 {
		return nil, given.Origin.Error("spec.template.spec.containers", messageRequired)
	}
	job := given.Stored()
	own, err := given.Program(r.environment)
	if err != nil {
		return nil, err
	}
	selection, err := r.bound.For(ctx, job)
	if err != nil {
		return nil, given.Origin.Error("metadata.namespace", err.Error())
	}
	j := &judge{job: job, own: own, policy: job.Spec.PodFailurePolicy, selection: selection}
	j.effect = selection.EffectIn(job, own)
	if j.assumed = job.Spec.ManagedBy == nil; j.assumed {
		j.effect = selection.Effect(own, true, v1alpha1.JobController)
	}
	for policy, bound := range j.selection.All() {
		j.order = append(j.order, inForce{policy, bound})
	}
	return j, nil
}

type judge struct {
	job       *batchv1.Job
	policy    *batchv1.PodFailurePolicy
	own       *runtime.Program
	selection binding.Selection
	order     []inForce
	effect    binding.Effect
	// assumed reports whether managedBy is unset, in which case podverdict's controller is assumed to run the Job.
	assumed bool
}

type inForce struct {
	policy  *runtime.Policy
	binding *v1alpha1.PodFailurePolicyBinding
}

func (j *judge) program(audited bool) *runtime.Program {
	if audited {
		return j.effect.Audited
	}
	return j.effect.Acting
}

// verdict returns the verdict on a Pod. If a rule matches a living Pod that is not ended, spared gives the reason.
func (j *judge) verdict(ctx context.Context, in runtime.Input, audited bool) (v runtime.Verdict, spared string) {
	if !v1alpha1.Lives(v1alpha1.PhaseOf(in.Pod)) {
		return j.program(audited).Judge(ctx, in), ""
	}
	living := j.selection.Living(ctx, in, audited)
	return living.Verdict, living.Spares(in, audited)
}
