package vectors

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
)

// Feature names something that a vector needs from an engine. An engine that lacks a feature is not asked the vectors that
// need it.
type Feature string

// The values of the header "#features".
const (
	FeatureNoRules           Feature = "NoRules"           // a Job without podFailurePolicy, or with one without rules
	FeatureOnExitCodes       Feature = "OnExitCodes"       // rules on exit codes
	FeatureIn                Feature = "In"                // the operator In
	FeatureNotIn             Feature = "NotIn"             // the operator NotIn
	FeatureContainerName     Feature = "ContainerName"     // rules restricted to one container
	FeatureInitContainers    Feature = "InitContainers"    // pods with statuses of init containers
	FeatureOnPodConditions   Feature = "OnPodConditions"   // rules on pod conditions
	FeatureFailJob           Feature = "FailJob"           // the action FailJob
	FeatureFailIndex         Feature = "FailIndex"         // the action FailIndex (KEP-3850)
	FeatureIgnore            Feature = "Ignore"            // the action Ignore
	FeatureCount             Feature = "Count"             // the action Count
	FeaturePhase             Feature = "Phase"             // pods in another phase than Failed
	FeatureKubernetesVersion Feature = "KubernetesVersion" // behaviour of another minor version than the default
	FeatureIllegalPolicy     Feature = "IllegalPolicy"     // policies that the API server refuses
)

// Features returns all features.
func Features() []Feature {
	return []Feature{
		FeatureNoRules, FeatureOnExitCodes, FeatureIn, FeatureNotIn, FeatureContainerName, FeatureInitContainers,
		FeatureOnPodConditions, FeatureFailJob, FeatureFailIndex, FeatureIgnore, FeatureCount, FeaturePhase,
		FeatureKubernetesVersion, FeatureIllegalPolicy,
	}
}

// Uses returns the features that a request needs, in the order of Features. It omits FeatureIllegalPolicy, which only the API
// server's validation can tell.
func Uses(r conformance.Request) []Feature {
	var rules []batchv1.PodFailurePolicyRule
	if r.Policy != nil {
		rules = r.Policy.Rules
	}
	used := map[Feature]bool{
		FeatureNoRules:           len(rules) == 0,
		FeatureInitContainers:    len(r.Pod.Status.InitContainerStatuses) > 0,
		FeaturePhase:             r.Pod.Status.Phase != corev1.PodFailed,
		FeatureKubernetesVersion: r.Kubernetes != "",
	}
	for _, rule := range rules {
		markRule(used, rule)
	}
	return slices.DeleteFunc(Features(), func(f Feature) bool { return !used[f] })
}

// markRule marks the features of a rule. Actions and operators are features of the same name; unknown ones are no features,
// and have no effect.
func markRule(used map[Feature]bool, rule batchv1.PodFailurePolicyRule) {
	used[Feature(rule.Action)] = true
	if codes := rule.OnExitCodes; codes != nil {
		used[FeatureOnExitCodes] = true
		used[Feature(codes.Operator)] = true
		if codes.ContainerName != nil {
			used[FeatureContainerName] = true
		}
	}
	if len(rule.OnPodConditions) > 0 {
		used[FeatureOnPodConditions] = true
	}
}
