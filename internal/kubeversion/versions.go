// Package kubeversion is the one table of the Kubernetes versions that podverdict
// knows. To add a version, change Default and the patch number of Pinned here, and
// the versions of k8s.io modules in the go.mod files, which a test holds to Pinned.
// CONTRIBUTING.md has the other steps.
package kubeversion

import "k8s.io/apimachinery/pkg/util/version"

const (
	// Default is the newest minor version that can be decided for: that of the
	// libraries linked in, and the one meant where users name none.
	Default = "1.37"
	// Pinned is the release that the semantics, the schemas and the tests' control
	// plane are taken from.
	Pinned = "v" + Default + ".2"
)

// The minor versions, and from which one on Kubernetes has what podverdict depends on
// (pkg/features/kube_features.go; for APIs APILifecycleIntroduced of their types).
var (
	// First is the oldest version that can be decided for, the first whose API server
	// knows optional fields in CEL.
	First = version.MajorMinor(1, 28)
	// FailIndex has the gate JobBackoffLimitPerIndex on by default (KEP-3850).
	FailIndex = version.MajorMinor(1, 29)
	// MutatingPolicyAlpha, -Beta and MutatingPolicy serve MutatingAdmissionPolicy as
	// v1alpha1, v1beta1 and v1.
	MutatingPolicyAlpha = version.MajorMinor(1, 32)
	MutatingPolicyBeta  = version.MajorMinor(1, 34)
	MutatingPolicy      = version.MajorMinor(1, 36)
	// GeneratedPolicies has all that generated ValidatingAdmissionPolicies use: the API
	// server compiles new expressions for the version before its own, and two-variable
	// comprehensions came with 1.32.
	GeneratedPolicies = version.MajorMinor(1, 33)
	// JSONValues shows the values in faults as JSON; earlier API servers show them in Go's syntax.
	JSONValues = version.MajorMinor(1, 34)
	// MutableTemplates lets the resources and the scheduling directives of suspended Jobs change (KEP-5440).
	MutableTemplates = version.MajorMinor(1, 36)
	// UpdatesOnce tells each fault of an update of a Job once; earlier API servers validate the Job for itself and as part
	// of the update.
	UpdatesOnce = version.MajorMinor(1, 37)
	// ParametersReturn finds the parameters of policies in ConfigMaps even after the last such policy was deleted.
	ParametersReturn = version.MajorMinor(1, 37)
	// Last is Default.
	Last = version.MustParseGeneric(Default)
)
