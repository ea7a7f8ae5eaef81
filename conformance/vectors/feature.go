package vectors

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
)

// Feature names something that a vector needs from an engine. An engine that
// does not support all features of a vector is not asked.
type Feature string

// The vocabulary of the header "#features".
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
	FeatureKubernetesVersion Feature = "KubernetesVersion" // behaviour of another minor than the default
	FeatureIllegalPolicy     Feature = "IllegalPolicy"     // policies that the API server refuses
)

// Features lists the whole vocabulary.
func Features() []Feature {
	return []Feature{
		FeatureNoRules, FeatureOnExitCodes, FeatureIn, FeatureNotIn, FeatureContainerName, FeatureInitContainers,
		FeatureOnPodConditions, FeatureFailJob, FeatureFailIndex, FeatureIgnore, FeatureCount, FeaturePhase,
		FeatureKubernetesVersion, FeatureIllegalPolicy,
	}
}

// Uses lists the features that a request needs, in the order of the vocabulary.
// FeatureIllegalPolicy is not among them: it takes the API server's validation
// to know.
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

// markRule relies on actions and operators being features of the same name;
// unknown ones mark what is not in the vocabulary, and so nothing.
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
