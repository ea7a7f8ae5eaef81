//go:build !js

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects reads objects of any kind in their API representation, page by page, and returns the results of take. An empty namespace means
// all namespaces.
func Objects[T any](
	ctx context.Context, c *Cluster, kind schema.GroupVersionResource, namespace, selector string, take func(*unstructured.Unstructured) []T,
) ([]T, error) {
	path := []string{"/apis", kind.Group, kind.Version}
	if kind.Group == "" {
		path = []string{"/api", kind.Version}
	}
	read := func(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		text, err := c.core.Get().AbsPath(path...).NamespaceIfScoped(namespace, namespace != "").Resource(kind.Resource).
			SetHeader("Accept", "application/json").VersionedParams(&o, metav1.ParameterCodec).Do(ctx).Raw()
		if err != nil {
			return nil, err
		}
		page := &unstructured.UnstructuredList{}
		err = page.UnmarshalJSON(text)
		return page, err
	}
	all, _, err := ReadPages(ctx, c.Progress, metav1.ListOptions{LabelSelector: selector}, read, func(page *unstructured.UnstructuredList) (taken []T) {
		for i := range page.Items {
			taken = append(taken, take(&page.Items[i])...)
		}
		return taken
	})
	return all, c.failure(err, request{"list", kind.GroupResource().String(), namespace})
}
