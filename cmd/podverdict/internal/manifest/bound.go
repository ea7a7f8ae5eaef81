package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Bound are the bindings of the input and, for each policy that none of them names, one to all Jobs.
func (s *Set) Bound() []Binding {
	named := map[string]bool{}
	for _, b := range s.Bindings {
		named[b.Object.Spec.PolicyName] = true
	}
	bound := slices.Clone(s.Bindings)
	for _, p := range s.Policies {
		if !named[p.Object.Name] {
			bound = append(bound, p.ToAll())
		}
	}
	return bound
}

// ToAll binds the policy to all Jobs. It goes by the policy's name.
func (p Policy) ToAll() Binding {
	b := &v1alpha1.PodFailurePolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Object.Name},
		Spec:       v1alpha1.PodFailurePolicyBindingSpec{PolicyName: p.Object.Name},
	}
	b.SetDefaults()
	return Binding{Object: b, Origin: p.Origin}
}

// NamespaceLabels are the labels of the namespaces of the input.
func (s *Set) NamespaceLabels() map[string]labels.Set {
	known := make(map[string]labels.Set, len(s.Namespaces))
	for _, n := range s.Namespaces {
		known[n.Object.Name] = labels.Merge(n.Object.Labels, NameLabel(n.Object.Name))
	}
	return known
}

// NameLabel is the label that the API server gives every namespace.
func NameLabel(namespace string) labels.Set { return labels.Set{corev1.LabelMetadataName: namespace} }

// LabelSelecting is the name of the first binding that selects namespaces by other labels than their names; "" if none
// does.
func LabelSelecting(bindings []Binding) string {
	for _, b := range bindings {
		selector, err := b.Object.Spec.NamespaceSelector.Selector()
		if err != nil {
			continue // whoever binds tells
		}
		requirements, _ := selector.Requirements()
		if slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() != corev1.LabelMetadataName }) {
			return b.Object.Name
		}
	}
	return ""
}
