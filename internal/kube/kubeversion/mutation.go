package kubeversion

import "k8s.io/apimachinery/pkg/util/version"

// MutationAPI describes how API servers of some versions serve MutatingAdmissionPolicies.
type MutationAPI struct {
	// Version is the newest apiVersion that they serve.
	Version string
	// Flags holds the flags that kube-apiserver needs to serve it, if any.
	Flags string

	since *version.Version
}

// mutationAPIs is sorted, newest first. Beta versions of APIs are off by default.
var mutationAPIs = [...]MutationAPI{
	{
		Version: "admissionregistration.k8s.io/v1",
		since:   MutatingPolicy,
	}, {
		Version: "admissionregistration.k8s.io/v1beta1",
		Flags:   "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true",
		since:   MutatingPolicyBeta,
	}, {
		Version: "admissionregistration.k8s.io/v1alpha1",
		Flags:   "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1alpha1=true",
		since:   MutatingPolicyAlpha,
	},
}

// MutationAPIOf returns the API in a Kubernetes version. It returns false if the version has none, which means that it is
// older than MutatingPolicyAlpha.
func MutationAPIOf(v *version.Version) (api MutationAPI, found bool) {
	for _, api := range mutationAPIs {
		if v.AtLeast(api.since) {
			return api, true
		}
	}
	return MutationAPI{}, false
}
