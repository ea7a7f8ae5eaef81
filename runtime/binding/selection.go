package binding

import (
	"slices"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Selection has the policies in force for a Job.
type Selection struct {
	// Problems are match conditions that could not be evaluated. Their policies are not in force, unless their failurePolicy
	// is Fail: then they are, and every rule of them has an error.
	Problems []*ConditionError

	entries []entry // sorted by the names of the bindings
}

type entry struct {
	policy  *runtime.Policy
	binding *v1alpha1.PodFailurePolicyBinding
}

// add adds an entry. If its policy has one already, an enforcing binding replaces an auditing one.
func add(entries []entry, e entry) []entry {
	at := index(entries, e.policy)
	switch {
	case at < 0:
		return append(entries, e)
	case entries[at].binding.Spec.Mode == v1alpha1.ModeAudit && e.binding.Spec.Mode == v1alpha1.ModeEnforce:
		return append(slices.Delete(entries, at, at+1), e)
	}
	return entries
}

// index returns the position of a policy, or -1. It compares names, because a policy whose match conditions have errors is
// another object.
func index(entries []entry, policy *runtime.Policy) int {
	return slices.IndexFunc(entries, func(e entry) bool { return e.policy.Name == policy.Name })
}

// Empty reports whether no policy is in force, not even for an audit.
func (s Selection) Empty() bool { return len(s.entries) == 0 }

// Audits reports whether some policy is only audited.
func (s Selection) Audits() bool {
	for i := range s.entries {
		if s.entries[i].binding.Spec.Mode == v1alpha1.ModeAudit {
			return true
		}
	}
	return false
}

// ReadsAttempts reports whether some policy in force, or one that is only audited, looks at earlier attempts.
func (s Selection) ReadsAttempts() bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.policy.ReadsAttempts() })
}

// program joins the Job's own rules, or nil, and the policies in force: all of them, or those that enforce. It returns nil if
// there are no rules.
func (s Selection) program(own *runtime.Program, audited bool) *runtime.Program {
	var before, after []*runtime.Policy
	for _, e := range s.entries {
		switch {
		case e.binding.Spec.Mode == v1alpha1.ModeAudit && !audited:
		case e.binding.Spec.Position == v1alpha1.PositionAfter:
			after = append(after, e.policy)
		default:
			before = append(before, e.policy)
		}
	}
	if len(before)+len(after) == 0 {
		return own
	}
	return runtime.Join(before, own, after)
}
