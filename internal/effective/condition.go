package effective

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// RuleOn returns the index of the first rule of a podFailurePolicy that matches Pods with the given condition and status True,
// or -1. The policy may be nil.
func RuleOn(policy *batchv1.PodFailurePolicy, condition corev1.PodConditionType) int {
	if policy == nil {
		return -1
	}
	return slices.IndexFunc(policy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		return slices.ContainsFunc(r.OnPodConditions, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return p.Type == condition && (p.Status == corev1.ConditionTrue || p.Status == "")
		})
	})
}
