package jobset

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// SetDefaults sets the defaults that JobSet's webhook and CRD set when a JobSet is created (pkg/webhooks/jobset_webhook.go). It does
// not change replicas: 0 may have been written, or be missing and mean 1. It is idempotent.
func SetDefaults(set *v1alpha2.JobSet) {
	spec := &set.Spec
	jobdefaults.Unset(&spec.SuccessPolicy, v1alpha2.SuccessPolicy{Operator: v1alpha2.OperatorAll})
	jobdefaults.Unset(&spec.StartupPolicy, v1alpha2.StartupPolicy{StartupPolicyOrder: v1alpha2.AnyOrder})
	for i := range spec.ReplicatedJobs {
		replicated := &spec.ReplicatedJobs[i]
		replicated.GroupName = cmp.Or(replicated.GroupName, "default")
		job := &replicated.Template.Spec
		jobdefaults.Unset(&job.CompletionMode, batchv1.IndexedCompletion)
		job.Template.Spec.RestartPolicy = cmp.Or(job.Template.Spec.RestartPolicy, corev1.RestartPolicyOnFailure)
	}
	jobdefaults.Unset(&spec.Network, v1alpha2.Network{})
	jobdefaults.Unset(&spec.Network.EnableDNSHostnames, true)
	jobdefaults.Unset(&spec.Network.PublishNotReadyAddresses, true)
	if policy := spec.FailurePolicy; policy != nil {
		policy.RestartStrategy = cmp.Or(policy.RestartStrategy, v1alpha2.Recreate)
		for i := range policy.Rules {
			policy.Rules[i].Name = cmp.Or(policy.Rules[i].Name, fmt.Sprintf("failurePolicyRule%d", i))
		}
	}
	for i := range spec.VolumeClaimPolicies {
		retention := &spec.VolumeClaimPolicies[i].RetentionPolicy
		jobdefaults.Unset(retention, v1alpha2.VolumeRetentionPolicy{WhenDeleted: new(v1alpha2.RetentionPolicyDelete)})
	}
}
