package v1alpha1

import corev1 "k8s.io/api/core/v1"

// FailingToStart is the type of the condition of a pod that is deleted because of a rule on Pending. Its status is True, its
// reason is the rule's, or ReasonPendingRule, and its message names the rule and the policy. It becomes False if the pod
// starts after all, or if no rule matches it any more before it is deleted.
//
// A podFailurePolicy can name it in onPodConditions.
const FailingToStart corev1.PodConditionType = "podverdict.io/FailingToStart"

// Reasons of the condition FailingToStart.
const (
	// ReasonPendingRule is used for rules without a reason of their own.
	ReasonPendingRule = "PendingRule"
	// ReasonStarted means that the pod has started.
	ReasonStarted = "Started"
	// ReasonNoRule means that no rule matches the pod any more.
	ReasonNoRule = "NoRule"
)
