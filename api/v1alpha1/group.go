package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the kinds, as in kind, and of their resources, as in a URL.
const (
	KindPodFailurePolicy        = "PodFailurePolicy"
	KindPodFailurePolicyBinding = "PodFailurePolicyBinding"

	ResourcePodFailurePolicies       = "podfailurepolicies"
	ResourcePodFailurePolicyBindings = "podfailurepolicybindings"
)

// JobController is the spec.managedBy of the Jobs that podverdict's controller runs.
const JobController = "podverdict.io/job-controller"

// GroupVersion is that of the kinds here.
var GroupVersion = schema.GroupVersion{Group: "podverdict.io", Version: "v1alpha1"}

// AddToScheme makes a scheme know the kinds here.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&PodFailurePolicy{}, &PodFailurePolicyList{},
		&PodFailurePolicyBinding{}, &PodFailurePolicyBindingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
