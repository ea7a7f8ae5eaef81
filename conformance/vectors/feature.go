package vectors

// Feature names a feature that a vector needs from an engine. Run reports vectors as not supported if they need a
// feature that the engine lacks.
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
	FeaturePhase             Feature = "Phase"             // pods in a phase other than Failed
	FeatureKubernetesVersion Feature = "KubernetesVersion" // behaviour of a minor version other than the default
	FeatureIllegalPolicy     Feature = "IllegalPolicy"     // policies that the API server rejects
)

// Features returns all features.
func Features() []Feature {
	return []Feature{
		FeatureNoRules, FeatureOnExitCodes, FeatureIn, FeatureNotIn, FeatureContainerName, FeatureInitContainers,
		FeatureOnPodConditions, FeatureFailJob, FeatureFailIndex, FeatureIgnore, FeatureCount, FeaturePhase,
		FeatureKubernetesVersion, FeatureIllegalPolicy,
	}
}
