package upstream

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// skipped is an action unknown to upstream. It skips the rule.
const skipped batchv1.PodFailurePolicyAction = "FailIndex before 1.29"

// asOf returns a policy with which the matcher decides as in a Kubernetes minor version, such as "1.28"; empty means
// compiler.DefaultVersion. A process always has the requested version. Before 1.29 the feature gate
// JobBackoffLimitPerIndex was off, so that rules with FailIndex were skipped. Kubernetes 1.37 no longer has the gate.
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
