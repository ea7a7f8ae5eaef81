package effective

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Source holds the custom policies and bindings of an input, as they were read.
type Source struct {
	Policies []manifest.Policy
	Bindings []manifest.Binding
	// NamespaceLabels returns the labels of a namespace, or an error with the reason why they are unknown.
	NamespaceLabels func(ctx context.Context, namespace string) (labels.Set, error)
	// Nodes returns the named nodes that exist. If nothing is known about nodes, unread is the reason, else "".
	Nodes func(ctx context.Context, names []string) (found map[string]*corev1.Node, unread string, err error)
}

// FromFiles returns the policies and bindings of files. A policy without a binding is bound to all Jobs.
func FromFiles(set *manifest.Set) *Source {
	known := set.NamespaceLabels()
	return &Source{
		Policies: set.Policies, Bindings: set.Bound(),
		NamespaceLabels: func(_ context.Context, namespace string) (labels.Set, error) {
			if found, ok := known[namespace]; ok {
				return found, nil
			}
			return nil, fmt.Errorf("namespace %s is not in the input", namespace)
		},
		Nodes: func(context.Context, []string) (map[string]*corev1.Node, string, error) {
			if len(set.Nodes) == 0 {
				return nil, "none is in the input", nil
			}
			found := map[string]*corev1.Node{}
			for _, node := range set.Nodes {
				found[node.Name] = node
			}
			return found, "", nil
		},
	}
}

// Add binds a policy to all Jobs, so that each of its rules has an effect. It replaces a policy of the same name and its bindings.
func (s *Source) Add(p manifest.Policy) {
	policies, bindings := []manifest.Policy{p}, []manifest.Binding{p.ToAll(v1alpha1.LivingPhases...)}
	for _, other := range s.Policies {
		if other.Object.Name != p.Object.Name {
			policies = append(policies, other)
		}
	}
	for _, b := range s.Bindings {
		if b.Object.Spec.PolicyName != p.Object.Name {
			bindings = append(bindings, b)
		}
	}
	s.Policies, s.Bindings = policies, bindings
}

// Policy returns the policy that a binding names, or nil if the input has no such policy.
func (s *Source) Policy(b manifest.Binding) *manifest.Policy {
	i := slices.IndexFunc(s.Policies, func(p manifest.Policy) bool { return p.Object.Name == b.Object.Spec.PolicyName })
	if i < 0 {
		return nil
	}
	return &s.Policies[i]
}

// Missing returns the bindings whose policy is not in the input. BindsNothing returns the message for each.
func (s *Source) Missing() []manifest.Binding {
	return slices.DeleteFunc(slices.Clone(s.Bindings), func(b manifest.Binding) bool { return s.Policy(b) != nil })
}

// BindsNothing returns the message about a binding whose policy is missing. Its field is spec.policyName.
func BindsNothing(b manifest.Binding) string {
	return fmt.Sprintf("PodFailurePolicyBinding %s binds nothing: no PodFailurePolicy %q is there", b.Object.Name, b.Object.Spec.PolicyName)
}
