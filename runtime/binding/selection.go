package binding

import (
	"slices"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// Selection holds the policies in effect for a Job.
type Selection struct {
	// Problems are match conditions that could not be evaluated. Their policies are not in effect unless their failurePolicy
	// is Fail. In that case they are in effect, and all of their rules have an error.
	Problems []*ConditionError

	entries []entry // sorted by binding name
}

type entry struct {
	policy  *runtime.Policy
	binding *v1alpha1.PodFailurePolicyBinding
}

// add adds an entry. If there is already an entry for its policy, an enforcing binding replaces an auditing one.
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

// index returns the position of a policy, or -1. It compares names, because a policy with failing match conditions is a copy.
func index(entries []entry, policy *runtime.Policy) int {
	return slices.IndexFunc(entries, func(e entry) bool { return e.policy.Name == policy.Name })
}

// Empty reports whether no policy is in effect, not even for an audit.
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

// ReadsAttempts reports whether some policy, in effect or only audited, reads earlier attempts.
func (s Selection) ReadsAttempts() bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.policy.ReadsAttempts() })
}

// program joins the Job's own rules, which may be nil, and the policies in effect: all of them, or only those that are
// enforced. It returns nil if there are no rules.
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
