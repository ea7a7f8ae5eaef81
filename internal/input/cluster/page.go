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

// pageSize is how many objects are asked for at once, as kubectl does.
const pageSize = 500

type list interface {
	metav1.ListInterface
	runtime.Object
}

// ReadPages reads a list page by page, and returns its items with the resource version that it shows. Between two pages the
// API server may forget the version that the first one shows: the list is then read again, in one piece.
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
	_ = meta.EachListItem(l, func(object runtime.Object) error { // which returns the errors of the function
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
