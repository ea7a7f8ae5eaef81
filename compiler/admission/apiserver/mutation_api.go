package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kubeversion"
)

// MutationAPI says how API servers serve MutatingAdmissionPolicies.
type MutationAPI struct {
	// Version is the newest apiVersion that the servers have.
	Version string
	// Flags are the flags that kube-apiserver needs to serve it. They are empty when it
	// needs none.
	Flags string

	since *version.Version
}

// mutationAPIs are in order, the newest first. Beta versions of APIs are off by default.
var mutationAPIs = [...]MutationAPI{
	{
		Version: "admissionregistration.k8s.io/v1",
		since:   kubeversion.MutatingPolicy,
	}, {
		Version: "admissionregistration.k8s.io/v1beta1",
		Flags:   "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true",
		since:   kubeversion.MutatingPolicyBeta,
	}, {
		Version: "admissionregistration.k8s.io/v1alpha1",
		Flags:   "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1alpha1=true",
		since:   kubeversion.MutatingPolicyAlpha,
	},
}

// MutationAPIOf returns the API of a Kubernetes version that compiler.ParseVersion takes;
// an empty one is compiler.DefaultVersion. A version that has no such API is an error.
func MutationAPIOf(kubernetes string) (MutationAPI, error) {
	api, _, err := mutationAPIOf(kubernetes)
	return api, err
}

func mutationAPIOf(kubernetes string) (MutationAPI, *version.Version, error) {
	if kubernetes == "" {
		kubernetes = compiler.DefaultVersion
	}
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return MutationAPI{}, nil, err
	}
	for _, api := range mutationAPIs {
		if v.AtLeast(api.since) {
			return api, v, nil
		}
	}
	return MutationAPI{}, nil, fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s",
		v.String(), mutationAPIs[len(mutationAPIs)-1].since)
}
