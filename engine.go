package podverdict

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Engine judges failed Pods. It is safe for concurrent use, and caches up to 1,000 compiled podFailurePolicies.
type Engine struct {
	environment *compiler.Environment
	policies    *binding.Set
	// conditional reports whether any policy has match conditions, so that the policies in effect depend on the Job.
	conditional bool
	cache       runtime.PolicyCache[*rules]
}

// New compiles policies and returns an Engine that applies them to every Job that their match conditions select, in
// the given order and before the Job's own rules. The list may be empty. Each policy must have a unique name. The
// returned error joins the errors of all policies.
func New(policies ...*v1alpha1.PodFailurePolicy) (*Engine, error) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		return nil, err
	}
	e := &Engine{environment: environment}
	compiled, bindings := map[string]*runtime.Policy{}, []*v1alpha1.PodFailurePolicyBinding{}
	var errs []error
	for i, given := range policies {
		if given == nil {
			errs = append(errs, fmt.Errorf("policy %d is nil", i))
			continue
		}
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
	if policy.Name == "" {
		return errors.New("it has no name")
	}
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

// toAll returns a binding of a policy to all Jobs. Bindings take effect in the order of their names, so i sets the
// order.
func toAll(policy string, i int) *v1alpha1.PodFailurePolicyBinding {
	b := &v1alpha1.PodFailurePolicyBinding{}
	b.Name = fmt.Sprintf("%08d", i)
	b.Spec = v1alpha1.PodFailurePolicyBindingSpec{PolicyName: policy, Mode: v1alpha1.ModeEnforce}
	b.SetDefaults()
	return b
}

// rules holds the rules for a Job: enforced apply if the caller carries out verdicts; own are only the Job's
// podFailurePolicy.
type rules struct {
	enforced, own snapshot.Rules
}

// rulesOf returns the rules for a Job.
func (e *Engine) rulesOf(ctx context.Context, job *batchv1.Job) (*rules, error) {
	known, err := e.cache.Get(job.Spec.PodFailurePolicy, func(policy *batchv1.PodFailurePolicy) (*rules, error) {
		own, err := snapshot.Compile(e.environment, policy)
		if err != nil || e.conditional {
			return &rules{own: ownRules(own)}, err
		}
		return e.withPolicies(ctx, job, own)
	})
	if err == nil && e.conditional {
		return e.withPolicies(ctx, job, known.own.Own)
	}
	return known, err
}

func ownRules(own *runtime.Program) snapshot.Rules {
	return snapshot.Rules{Own: own, Effect: binding.Effect{Acting: own}}
}

// withPolicies returns the Job's own rules together with the policies in effect for the Job.
func (e *Engine) withPolicies(ctx context.Context, job *batchv1.Job, own *runtime.Program) (*rules, error) {
	selected := e.policies.For(ctx, job, nil)
	var errs []error
	for _, problem := range selected.Problems {
		errs = append(errs, problem)
	}
	enforced := snapshot.Rules{Own: own, Selection: selected, Effect: selected.Effect(own, true, "")}
	return &rules{enforced: enforced, own: ownRules(own)}, errors.Join(errs...)
}
