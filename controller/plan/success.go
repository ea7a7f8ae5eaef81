package plan

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
)

// metSuccessPolicy returns the goal of the first success policy rule that is met (KEP-3998), or nil.
func (n *next) metSuccessPolicy() *goal {
	if n.Job.Spec.SuccessPolicy == nil || !n.indexed || len(n.completed) == 0 {
		return nil
	}
	for i, rule := range n.Job.Spec.SuccessPolicy.Rules {
		if n.meets(rule) {
			return success(batchv1.JobReasonSuccessPolicy, "Matched rules at index "+strconv.Itoa(i))
		}
	}
	return nil
}

func (n *next) meets(rule batchv1.SuccessPolicyRule) bool {
	succeeded, wanted := n.completed.size(), 0
	if rule.SucceededIndexes != nil {
		required := parseIndexes(*rule.SucceededIndexes, n.completions)
		succeeded, wanted = n.completed.common(required), required.size()
		if wanted == 0 {
			return false // invalid text contains no indexes
		}
	}
	if rule.SucceededCount != nil && succeeded >= int(*rule.SucceededCount) {
		return true
	}
	return rule.SucceededIndexes != nil && succeeded == wanted
}
