package caches

import (
	"context"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Optional lists and watches a kind that the API server may not serve, or that the controller may not be allowed to read. It
// then reports no objects until that changes. A plain informer for such a kind would never sync.
type Optional struct {
	Resource string
	Lists    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watches  func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// None returns an empty list.
	None  func() runtime.Object
	Clock clock.WithTicker
	// Forget removes the known objects if the permission to read them is revoked later. Otherwise they are kept.
	Forget bool

	// listed is true if any list has succeeded. absent is true if the last list found that the kind is not served.
	listed, absent atomic.Bool
	// changed is called when absent has changed.
	changed func()
}

// absencePeriod is the interval for checking whether a missing kind is served now.
const absencePeriod = 5 * time.Second

// Informer returns an informer for objects of the example's type.
func (o *Optional) Informer(example runtime.Object, transform cache.TransformFunc) (cache.SharedIndexInformer, error) {
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  o.list,
		WatchFuncWithContext: o.watch,
	}, o), example, cache.SharedIndexInformerOptions{ObjectDescription: o.Resource})
	return informer, informer.SetTransform(transform)
}

// IsWatchListSemanticsUnSupported makes reflectors begin with a list, because its errors are more specific than the errors
// of a stream.
func (*Optional) IsWatchListSemanticsUnSupported() bool { return true }

func (o *Optional) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.Lists(ctx, Newest(options))
	switch {
	case err == nil:
		o.listed.Store(true)
		o.become(false)
	case o.missing(err):
		if o.become(true) {
			klog.FromContext(ctx).V(1).Info("There are none for now", "resource", o.Resource, "reason", err)
		}
		return o.None(), nil
	}
	return list, err
}

// become sets absent and reports whether it has changed.
func (o *Optional) become(absent bool) bool {
	changed := o.absent.Swap(absent) != absent
	if changed && o.changed != nil {
		o.changed()
	}
	return changed
}

// missing reports whether an error means that no objects of the kind are visible to the controller.
func (o *Optional) missing(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && (o.Forget || !o.listed.Load())
}

// watch returns no events for a while if the kind was not served and still is not. If that has changed, it returns an error
// that leads to a new list.
func (o *Optional) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := o.Watches(ctx, options)
	absent := o.absent.Load()
	switch {
	case err != nil && o.missing(err) && absent:
		return o.silence(), nil
	case err != nil && o.missing(err):
		return nil, apierrors.NewResourceExpired("the kind is not served any more")
	case err == nil && absent:
		w.Stop()
		return nil, apierrors.NewResourceExpired("the kind is served now")
	}
	return w, err
}

// silence returns a watch without events that ends after absencePeriod.
func (o *Optional) silence() watch.Interface {
	events := make(chan watch.Event)
	w := watch.NewProxyWatcher(events)
	timer := o.Clock.NewTimer(absencePeriod)
	go func() {
		defer close(events)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-w.StopChan():
		}
	}()
	return w
}
