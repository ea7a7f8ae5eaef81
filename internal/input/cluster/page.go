//go:build !js

package cluster

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// pageSize is the number of objects per page, the same as in kubectl.
const pageSize = 500

type list interface {
	metav1.ListInterface
	runtime.Object
}

// ReadPages reads a list page by page. It returns the items and their resource version. If that version expires on the API server between
// two pages, ReadPages reads the list again without paging.
func ReadPages[T any, L list](
	ctx context.Context, progress func(int), options metav1.ListOptions,
	read func(context.Context, metav1.ListOptions) (L, error), items func(L) []T,
) (all []T, version string, err error) {
	options.Limit = cmp.Or(options.Limit, pageSize)
	for {
		page, err := read(ctx, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			all, options.Continue, options.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return nil, "", err
		}
		all = append(all, items(page)...)
		progress(meta.LenList(page))
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, page.GetResourceVersion(), nil
		}
	}
}

func items[T any, L list](l L) []*T {
	var all []*T
	_ = meta.EachListItem(l, func(object runtime.Object) error { // returns only errors of the function
		if item, ok := any(object).(*T); ok {
			all = append(all, item)
		}
		return nil
	})
	return all
}

func (c *Cluster) listPods(ctx context.Context, namespace string, options metav1.ListOptions) (pods []*corev1.Pod, version string, err error) {
	pods, version, err = ReadPages(ctx, c.Progress, options, List[corev1.PodList](c.core, Pod.plural(), namespace), items[corev1.Pod])
	return pods, version, c.failure(err, request{"list", Pod.resource(), namespace})
}
