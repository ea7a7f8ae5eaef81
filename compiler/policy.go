package compiler

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Policy is a podFailurePolicy in the form in which it is evaluated. Rules are in order, and
// the first one that matches wins (KEP-3329, "JobSpec API").
type Policy struct {
	Rules []Rule
}

// Rule is one rule of a Policy.
type Rule struct {
	// Action is the action on a failed pod that the rule matches.
	Action batchv1.PodFailurePolicyAction
	// Match is the rule's condition on the pod: ExitCodes, PodConditions or Never.
	Match Match
}

// Match is a rule's condition on a failed pod. It is one of ExitCodes,
// PodConditions and Never.
//
//sumtype:decl
type Match interface{ match() }

// ExitCodes matches a terminated container or init container that failed with a code that
// Operator and Values select. Exit code 0 never matches.
type ExitCodes struct {
	// Container restricts the rule to the container or init container with that name; nil
	// matches any.
	Container *string
	// Operator is one of Operators.
	Operator batchv1.PodFailurePolicyOnExitCodesOperator
	Values   []int32
}

// PodConditions matches a pod condition with the type and the status of one of the patterns.
type PodConditions struct {
	Patterns []batchv1.PodFailurePolicyOnPodConditionsPattern
}

// Never matches no pod. It represents rules that clients skip: rules with an unknown action or
// operator, or without a selector.
type Never struct{}

func (ExitCodes) match()     {}
func (PodConditions) match() {}
func (Never) match()         {}

// StoredPolicy converts a stored policy as the Job controller reads it, even if a newer API
// server stored it. It rejects nothing and sets no defaults. Rules with an unknown action or
// operator never match; in a rule with both selectors only exit codes are consulted
// (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go). A nil policy has no
// rules.
//
// The policy shares the memory of p, which must not change afterwards.
func StoredPolicy(p *batchv1.PodFailurePolicy) *Policy {
	if p == nil {
		return &Policy{}
	}
	policy := &Policy{Rules: make([]Rule, len(p.Rules))}
	for i := range p.Rules {
		policy.Rules[i] = Rule{Action: p.Rules[i].Action, Match: storedMatch(&p.Rules[i])}
	}
	return policy
}

func storedMatch(r *batchv1.PodFailurePolicyRule) Match {
	switch r.Action {
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount:
	default:
		return Never{}
	}
	switch on := r.OnExitCodes; {
	case on == nil && len(r.OnPodConditions) == 0:
		return Never{}
	case on == nil:
		return PodConditions{Patterns: r.OnPodConditions}
	case slices.Contains(Operators, on.Operator):
		return ExitCodes{Container: on.ContainerName, Operator: on.Operator, Values: on.Values}
	default:
		return Never{}
	}
}

// maxStatuses is the maximum number of different statuses in one rule. A condition has one of
// three statuses. The time of CEL's checker grows with the square of the number of terms.
const maxStatuses = 100

// statuses returns the distinct statuses of the patterns in order of first appearance. It
// stops at one above the limit, because each status becomes a term of the expression.
func (c PodConditions) statuses() []corev1.ConditionStatus {
	var seen []corev1.ConditionStatus
	for _, p := range c.Patterns {
		if !slices.Contains(seen, p.Status) {
			seen = append(seen, p.Status)
		}
		if len(seen) > maxStatuses {
			break
		}
	}
	return seen
}
