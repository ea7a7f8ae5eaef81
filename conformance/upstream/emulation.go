package upstream

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// skipped is an action that upstream does not know. It skips the rule.
const skipped batchv1.PodFailurePolicyAction = "FailIndex before 1.29"

// asOf returns the policy with which the matcher decides as it did in a Kubernetes minor, such as "1.28"; empty
// is compiler.DefaultVersion. A process is the version that it is asked for. Before 1.29 the feature gate JobBackoffLimitPerIndex was off, so that rules with FailIndex
// were skipped. Kubernetes 1.37 has no such gate any more.
func (c controller) asOf(kubernetes string, policy *batchv1.PodFailurePolicy) (*batchv1.PodFailurePolicy, error) {
	if kubernetes == "" || c.process != nil {
		return policy, nil
	}
	wanted, err := compiler.ParseVersion(kubernetes)
	if err != nil || policy == nil || wanted.AtLeast(kubeversion.FailIndex) {
		return policy, err
	}
	rules := slices.Clone(policy.Rules)
	for i := range rules {
		if rules[i].Action == batchv1.PodFailurePolicyActionFailIndex {
			rules[i].Action = skipped
		}
	}
	return &batchv1.PodFailurePolicy{Rules: rules}, nil
}
