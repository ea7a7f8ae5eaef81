package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Bound returns the bindings of the input and, for each policy without one, a binding to all Jobs.
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

// ToAll returns a binding of the policy to all Jobs, named like the policy. The binding ends Pods in the given phases.
func (p Policy) ToAll(living ...corev1.PodPhase) Binding {
	b := &v1alpha1.PodFailurePolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Object.Name},
		Spec:       v1alpha1.PodFailurePolicyBindingSpec{PolicyName: p.Object.Name, LivingPods: living},
	}
	b.SetDefaults()
	return Binding{Object: b, Origin: p.Origin}
}

// NamespaceLabels returns the labels of the namespaces of the input.
func (s *Set) NamespaceLabels() map[string]labels.Set {
	known := make(map[string]labels.Set, len(s.Namespaces))
	for _, n := range s.Namespaces {
		known[n.Object.Name] = labels.Merge(n.Object.Labels, NameLabel(n.Object.Name))
	}
	return known
}

// NameLabel returns the label that the API server sets on every namespace.
func NameLabel(namespace string) labels.Set { return labels.Set{corev1.LabelMetadataName: namespace} }

// LabelSelecting returns the name of the first binding that selects namespaces by labels other than their names, or "".
func LabelSelecting(bindings []Binding) string {
	for _, b := range bindings {
		selector, err := b.Object.Spec.NamespaceSelector.Selector()
		if err != nil {
			continue // reported when the binding is compiled
		}
		requirements, _ := selector.Requirements()
		if slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() != corev1.LabelMetadataName }) {
			return b.Object.Name
		}
	}
	return ""
}
