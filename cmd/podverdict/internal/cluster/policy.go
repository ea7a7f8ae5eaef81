package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// connectPolicies makes the client for custom policies. Custom resources are JSON.
func (c *Cluster) connectPolicies(config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &v1alpha1.GroupVersion, "/apis"
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	c.policies, c.parameters = client, runtime.NewParameterCodec(scheme)
	return err
}

// Policies reads the custom policies and what binds them. There are none where their definitions are not installed.
// Without the right to read them, which is no error, unread says so.
func (c *Cluster) Policies(ctx context.Context) (policies []manifest.Policy, bindings []manifest.Binding, unread string, err error) {
	readPolicies := func(ctx context.Context, o metav1.ListOptions) (*v1alpha1.PodFailurePolicyList, error) {
		var list v1alpha1.PodFailurePolicyList
		return &list, c.listPolicies(ctx, v1alpha1.ResourcePodFailurePolicies, o, &list)
	}
	readBindings := func(ctx context.Context, o metav1.ListOptions) (*v1alpha1.PodFailurePolicyBindingList, error) {
		var list v1alpha1.PodFailurePolicyBindingList
		return &list, c.listPolicies(ctx, v1alpha1.ResourcePodFailurePolicyBindings, o, &list)
	}
	foundPolicies, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{}, readPolicies,
		func(l *v1alpha1.PodFailurePolicyList) []v1alpha1.PodFailurePolicy { return l.Items })
	if err != nil {
		unread, err = c.unread(ctx, err, v1alpha1.ResourcePodFailurePolicies)
		return nil, nil, unread, err
	}
	foundBindings, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{}, readBindings,
		func(l *v1alpha1.PodFailurePolicyBindingList) []v1alpha1.PodFailurePolicyBinding { return l.Items })
	if err != nil {
		unread, err = c.unread(ctx, err, v1alpha1.ResourcePodFailurePolicyBindings)
		return nil, nil, unread, err
	}
	for i := range foundPolicies {
		foundPolicies[i].SetDefaults()
		policies = append(policies, manifest.LivePolicy(&foundPolicies[i]))
	}
	for i := range foundBindings {
		foundBindings[i].SetDefaults()
		bindings = append(bindings, manifest.LiveBinding(&foundBindings[i]))
	}
	return policies, bindings, "", nil
}

func (c *Cluster) listPolicies(ctx context.Context, resource string, o metav1.ListOptions, into runtime.Object) error {
	return c.policies.Get().Resource(resource).VersionedParams(&o, c.parameters).Do(ctx).Into(into)
}

// unread returns a text when reading policies is not allowed, and "" when the cluster does not have their definitions.
func (c *Cluster) unread(ctx context.Context, err error, resource string) (string, error) {
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case !apierrors.IsForbidden(err):
		return "", c.failure(err, request{"list", resource + "." + v1alpha1.GroupVersion.Group, metav1.NamespaceAll})
	case apierrors.IsNotFound(c.policies.Get().Do(ctx).Error()): // what is served may be asked by everybody
		return "", nil
	}
	return fmt.Sprintf("custom policies are left out of account: %s.%s may not be read\nsee kubectl auth can-i list %s.%s",
		resource, v1alpha1.GroupVersion.Group, resource, v1alpha1.GroupVersion.Group), nil
}

// NamespaceLabels returns the labels of a namespace.
func (c *Cluster) NamespaceLabels(ctx context.Context, name string) (labels.Set, error) {
	namespace, err := c.core.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.failure(err, request{"get", "namespaces", metav1.NamespaceAll})
	}
	return namespace.Labels, nil
}
