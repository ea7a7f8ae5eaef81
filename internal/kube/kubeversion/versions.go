// Package kubeversion is the only table of the Kubernetes versions that podverdict knows. To add a version, change Default and
// the patch number of Pinned here, and the k8s.io module versions in the go.mod files, which a test compares with Pinned.
// CONTRIBUTING.md lists the other steps.
package kubeversion

import "k8s.io/apimachinery/pkg/util/version"

const (
	// Default is the newest supported minor version. It is the version of the linked libraries, and the default if users name
	// none.
	Default = "1.37"
	// Pinned is the release that defines the semantics, the schemas and the tests' control plane.
	Pinned = "v" + Default + ".2"
)

// The minor versions that introduced features that podverdict depends on (pkg/features/kube_features.go; for APIs,
// APILifecycleIntroduced of their types).
var (
	// First is the oldest supported version, the first whose API server has optional fields in CEL.
	First = version.MajorMinor(1, 28)
	// FailIndex is the first version with the feature gate JobBackoffLimitPerIndex on by default (KEP-3850).
	FailIndex = version.MajorMinor(1, 29)
	// MutatingPolicyAlpha, -Beta and MutatingPolicy are the first versions that serve MutatingAdmissionPolicy as v1alpha1,
	// v1beta1 and v1.
	MutatingPolicyAlpha = version.MajorMinor(1, 32)
	MutatingPolicyBeta  = version.MajorMinor(1, 34)
	MutatingPolicy      = version.MajorMinor(1, 36)
	// GeneratedPolicies is the first version with all features that generated ValidatingAdmissionPolicies use. An API server
	// compiles new expressions for the version before its own, and two-variable comprehensions came with 1.32.
	GeneratedPolicies = version.MajorMinor(1, 33)
	// RestartRules is the first version with the feature gate ContainerRestartRules on by default (KEP-5307).
	RestartRules = version.MajorMinor(1, 35)
	// RestartAllContainers is the first version with the feature gate RestartAllContainersOnContainerExits on by default
	// (KEP-5532).
	RestartAllContainers = version.MajorMinor(1, 36)
	// MutableTemplates is the first version that allows changes to resources and scheduling directives of suspended Jobs
	// (KEP-5440).
	MutableTemplates = version.MajorMinor(1, 36)
	// StaticAdmission is the first version with the feature gate ManifestBasedAdmissionControlConfig on by default (KEP-5793).
	StaticAdmission = version.MajorMinor(1, 37)
	// Last is Default as a version.
	Last = version.MustParseGeneric(Default)
)
