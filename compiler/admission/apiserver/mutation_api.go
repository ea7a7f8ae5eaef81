package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kubeversion"
)

// MutationAPI says how API servers serve MutatingAdmissionPolicies.
type MutationAPI = kubeversion.MutationAPI

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
	api, found := kubeversion.MutationAPIOf(v)
	if !found {
		return api, nil, fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s", v.String(), kubeversion.MutatingPolicyAlpha)
	}
	return api, v, nil
}
