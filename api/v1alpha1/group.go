package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the kinds and of their resources.
const (
	KindPodFailurePolicy        = "PodFailurePolicy"
	KindPodFailurePolicyBinding = "PodFailurePolicyBinding"

	ResourcePodFailurePolicies       = "podfailurepolicies"
	ResourcePodFailurePolicyBindings = "podfailurepolicybindings"
)

// JobController is the spec.managedBy of the Jobs that podverdict's controller runs.
const JobController = "podverdict.io/job-controller"

// GroupVersion is the API group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "podverdict.io", Version: "v1alpha1"}

// AddToScheme registers the kinds in this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&PodFailurePolicy{}, &PodFailurePolicyList{},
		&PodFailurePolicyBinding{}, &PodFailurePolicyBindingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
