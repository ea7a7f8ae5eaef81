package podverdict

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Engine judges failed Pods. It is safe for concurrent use, and keeps the compiled rules of the Jobs that it has seen last.
type Engine struct {
	environment *compiler.Environment
	policies    *binding.Set
	// conditional is whether a policy has match conditions, so that it depends on the Job whether it is in force.
	conditional bool
	cache       cache
}

// New compiles policies, which then are in force for every Job that their match conditions allow, in their order and before the
// Job's own rules. There may be none. Each must have a name of its own. An error joins all that is wrong with them.
func New(policies ...*v1alpha1.PodFailurePolicy) (*Engine, error) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		return nil, err
	}
	e := &Engine{environment: environment}
	compiled, bindings := map[string]*runtime.Policy{}, []*v1alpha1.PodFailurePolicyBinding{}
	var errs []error
	for i, given := range policies {
		policy := given.DeepCopy()
		if err := e.compile(policy, compiled); err != nil {
			errs = append(errs, fmt.Errorf("policy %q: %w", policy.Name, err))
			continue
		}
		e.conditional = e.conditional || len(policy.Spec.MatchConditions) > 0
		bindings = append(bindings, toAll(policy.Name, i))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	e.policies, err = binding.NewSet(compiled, bindings)
	return e, err
}

// compile compiles a policy as the API server would store it, and adds it to others by its name.
func (e *Engine) compile(policy *v1alpha1.PodFailurePolicy, others map[string]*runtime.Policy) error {
	if others[policy.Name] != nil {
		return errors.New("there are two policies of this name")
	}
	policy.SetDefaults()
	if err := policy.Validate().ToAggregate(); err != nil {
		return err
	}
	compiled, err := runtime.NewCustomPolicy(e.environment, policy)
	others[policy.Name] = compiled
	return err
}

// toAll returns the binding of a policy to all Jobs. Bindings take effect in the order of their names.
func toAll(policy string, i int) *v1alpha1.PodFailurePolicyBinding {
	b := &v1alpha1.PodFailurePolicyBinding{}
	b.Name = fmt.Sprintf("%08d", i)
	b.Spec = v1alpha1.PodFailurePolicyBindingSpec{PolicyName: policy, Mode: v1alpha1.ModeEnforce}
	b.SetDefaults()
	return b
}

// rules are what decides on the Pods of a Job.
type rules struct {
	own, enforced *runtime.Program
	readsAttempts bool
}

// rulesOf returns what decides on the Pods of a Job.
func (e *Engine) rulesOf(ctx context.Context, job *batchv1.Job) (*rules, error) {
	if e.conditional {
		return e.newRules(ctx, job)
	}
	policy := job.Spec.PodFailurePolicy
	if known := e.cache.find(policy); known != nil {
		return known, nil
	}
	made, err := e.newRules(ctx, job)
	if err == nil {
		e.cache.add(policy, made)
	}
	return made, err
}

func (e *Engine) newRules(ctx context.Context, job *batchv1.Job) (*rules, error) {
	legal, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
	if err != nil {
		return nil, err
	}
	compiled, err := e.environment.Compile(legal)
	if err != nil {
		return nil, err
	}
	own := runtime.NewProgram(compiled)
	selected := e.policies.For(ctx, job, nil)
	enforced := selected.Effect(own, true, "").Acting
	return &rules{own, enforced, selected.ReadsAttempts()}, errors.Join(problems(selected)...)
}

func problems(selected binding.Selection) (errs []error) {
	for _, problem := range selected.Problems {
		errs = append(errs, problem)
	}
	return errs
}
