package v1alpha1

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// Types of the condition that a pod gets before it is ended because of a rule on a phase in which pods live, unless the rule
// names another. The condition's status is True, its reason is the rule's or a default for the phase, and its message names the
// rule and the policy. It becomes False if no rule matches the pod any more before it is ended.
//
// A podFailurePolicy can name them in onPodConditions.
const (
	// FailingToStart is for rules on Pending.
	FailingToStart corev1.PodConditionType = "podverdict.io/FailingToStart"
	// Stopped is for rules on Running.
	Stopped corev1.PodConditionType = "podverdict.io/Stopped"
	// Lost is for rules on Terminating.
	Lost corev1.PodConditionType = "podverdict.io/Lost"
)

// Reasons of these conditions.
const (
	// ReasonPendingRule, ReasonRunningRule and ReasonTerminatingRule are used for rules without a reason of their own.
	ReasonPendingRule     = "PendingRule"
	ReasonRunningRule     = "RunningRule"
	ReasonTerminatingRule = "TerminatingRule"
	// ReasonStarted means that the pod has started.
	ReasonStarted = "Started"
	// ReasonNoRule means that no rule matches the pod any more.
	ReasonNoRule = "NoRule"
)

// ConditionType returns the type of the condition that pods get before they are ended because of the rule, or an empty string
// for a rule on Failed.
func (r *Rule) ConditionType() corev1.PodConditionType {
	condition, _ := r.defaults()
	return cmp.Or(corev1.PodConditionType(r.Condition), condition)
}

// ConditionReason returns the reason of that condition.
func (r *Rule) ConditionReason() string {
	_, reason := r.defaults()
	return cmp.Or(r.Reason, reason)
}

func (r *Rule) defaults() (condition corev1.PodConditionType, reason string) {
	switch r.Phase {
	case corev1.PodPending:
		return FailingToStart, ReasonPendingRule
	case corev1.PodRunning:
		return Stopped, ReasonRunningRule
	case PhaseTerminating:
		return Lost, ReasonTerminatingRule
	default:
		return "", ""
	}
}
