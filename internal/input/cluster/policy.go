//go:build !js

package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Policies reads the custom policies and their bindings. It returns none if their definitions are not installed. A missing permission to
// read them is not an error, but is reported in unread.
func (c *Cluster) Policies(ctx context.Context) (policies []manifest.Policy, bindings []manifest.Binding, unread string, err error) {
	foundPolicies, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{},
		List[v1alpha1.PodFailurePolicyList](c.policies, v1alpha1.ResourcePodFailurePolicies, metav1.NamespaceAll), items[v1alpha1.PodFailurePolicy])
	if err != nil {
		unread, err = c.unread(ctx, err, v1alpha1.ResourcePodFailurePolicies)
		return nil, nil, unread, err
	}
	foundBindings, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{},
		List[v1alpha1.PodFailurePolicyBindingList](c.policies, v1alpha1.ResourcePodFailurePolicyBindings, metav1.NamespaceAll),
		items[v1alpha1.PodFailurePolicyBinding])
	if err != nil {
		unread, err = c.unread(ctx, err, v1alpha1.ResourcePodFailurePolicyBindings)
		return nil, nil, unread, err
	}
	for _, policy := range foundPolicies {
		policy.SetDefaults()
		policies = append(policies, manifest.LivePolicy(policy))
	}
	for _, binding := range foundBindings {
		binding.SetDefaults()
		bindings = append(bindings, manifest.LiveBinding(binding))
	}
	return policies, bindings, "", nil
}

// unread returns a message if reading policies is forbidden, or an empty string if their definitions are not installed.
func (c *Cluster) unread(ctx context.Context, err error, resource string) (string, error) {
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case !apierrors.IsForbidden(err):
		return "", c.failure(err, request{"list", resource + "." + v1alpha1.GroupVersion.Group, metav1.NamespaceAll})
	case apierrors.IsNotFound(c.policies.Get().Do(ctx).Error()): // every user may discover the groups that are served
		return "", nil
	}
	return fmt.Sprintf("custom policies are left out of account: %s.%s may not be read\nsee kubectl auth can-i list %s.%s",
		resource, v1alpha1.GroupVersion.Group, resource, v1alpha1.GroupVersion.Group), nil
}

// NamespaceLabels returns the labels of a namespace.
func (c *Cluster) NamespaceLabels(ctx context.Context, name string) (labels.Set, error) {
	namespace, err := c.namespace(ctx, name)
	if err != nil {
		return nil, c.failure(err, request{"get", "namespaces", metav1.NamespaceAll})
	}
	return namespace.Labels, nil
}
