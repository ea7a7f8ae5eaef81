package binding

import (
	"cmp"
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Set holds policies and their bindings. It is immutable and safe for concurrent use.
type Set struct {
	bound []bound // sorted by binding name
}

// bound is a binding whose policy exists.
type bound struct {
	binding         *v1alpha1.PodFailurePolicyBinding
	policy          *runtime.Policy
	namespaces, job labels.Selector
}

// NewSet returns a Set of policies, keyed by name, and bindings. The bindings must have the API's defaults and must not
// change afterwards. Bindings to missing policies have no effect. NewSet returns an error for bindings with an invalid
// selector, which the API would reject; the Set contains the others.
func NewSet(policies map[string]*runtime.Policy, bindings []*v1alpha1.PodFailurePolicyBinding) (*Set, error) {
	s := &Set{}
	var errs []error
	for _, b := range bindings {
		policy := policies[b.Spec.PolicyName]
		if policy == nil {
			continue
		}
		namespaces, err := b.Spec.NamespaceSelector.Selector()
		if err != nil {
			errs = append(errs, errSelector(b.Name, "namespaceSelector", err))
			continue
		}
		job, err := b.Spec.JobSelector.Selector()
		if err != nil {
			errs = append(errs, errSelector(b.Name, "jobSelector", err))
			continue
		}
		s.bound = append(s.bound, bound{b, policy, namespaces, job})
	}
	slices.SortStableFunc(s.bound, func(a, b bound) int { return cmp.Compare(a.binding.Name, b.binding.Name) })
	return s, errors.Join(errs...)
}

// For returns the policies in effect for a Job in a namespace with the given labels.
func (s *Set) For(ctx context.Context, job *batchv1.Job, namespace labels.Set) Selection {
	var selected Selection
	if s == nil {
		return selected
	}
	asked := map[*runtime.Policy]*runtime.Policy{} // the result of applying for each policy
	for _, b := range s.bound {
		if !b.namespaces.Matches(namespace) || !b.job.Matches(labels.Set(job.Labels)) {
			continue
		}
		policy, known := asked[b.policy]
		if !known {
			var err error
			if policy, err = applying(ctx, b.policy, job); err != nil {
				selected.Problems = append(selected.Problems, &ConditionError{b.policy.Name, err})
			}
			asked[b.policy] = policy
		}
		if policy != nil {
			selected.entries = add(selected.entries, entry{policy, b.binding})
		}
	}
	return selected
}

// applying returns the form in which a policy is in effect for a Job that its binding selects: the policy, the policy with
// failing rules, or nil. It depends on the match conditions and, if one has an error, on the failurePolicy.
func applying(ctx context.Context, policy *runtime.Policy, job *batchv1.Job) (*runtime.Policy, error) {
	applies, err := policy.Applies(ctx, job)
	switch {
	case err != nil && policy.FailurePolicy == v1alpha1.FailurePolicyFail:
		return policy.Failing(err), err
	case applies:
		return policy, nil
	default:
		return nil, err
	}
}
