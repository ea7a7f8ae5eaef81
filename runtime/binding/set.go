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

// Set is policies and what binds them. It is immutable and safe for concurrent use.
type Set struct {
	bound []bound // in the order of the names of the bindings
}

// bound is a binding whose policy is there.
type bound struct {
	binding         *v1alpha1.PodFailurePolicyBinding
	policy          *runtime.Policy
	namespaces, job labels.Selector
}

// NewSet joins policies, by their names, and bindings, which have the API's defaults
// and must not change afterwards. Bindings to policies that are not there bind
// nothing. The error names a binding with a selector that makes no sense, which the
// API does not let through; the others are in the Set.
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

// For selects what is in force for a Job in a namespace with some labels.
func (s *Set) For(ctx context.Context, job *batchv1.Job, namespace labels.Set) Selection {
	var selected Selection
	if s == nil {
		return selected
	}
	asked := map[*runtime.Policy]*runtime.Policy{} // what is in force of each, or nil
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

// applying returns what is in force of a policy for a Job that its binding selects, or nil:
// the policy if its match conditions are true, and if one of them cannot be evaluated,
// what its failurePolicy says.
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
