package policies

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

	"github.com/podverdict/podverdict/controller/caches"
)

// optional lists and watches a kind that the API server may not serve, or that we may not read. It then reports no objects
// until that changes. Without it, an informer for such a kind would never sync.
type optional struct {
	resource string
	lists    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watches  func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// none returns an empty list.
	none  func() runtime.Object
	clock clock.WithTicker
	// listed is true if any list has succeeded, absent if the last one found that the kind is not served.
	listed, absent atomic.Bool
}

// absencePeriod is how often to check whether a missing kind is served now.
const absencePeriod = 5 * time.Second

// informer returns an informer for objects of the example's type.
func (o *optional) informer(example runtime.Object, transform cache.TransformFunc) (cache.SharedIndexInformer, error) {
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  o.list,
		WatchFuncWithContext: o.watch,
	}, o), example, cache.SharedIndexInformerOptions{ObjectDescription: o.resource})
	return informer, informer.SetTransform(transform)
}

// IsWatchListSemanticsUnSupported makes reflectors begin with a list, whose errors say more than those of a stream.
func (*optional) IsWatchListSemanticsUnSupported() bool { return true }

func (o *optional) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.lists(ctx, caches.Newest(options))
	switch {
	case err == nil:
		o.listed.Store(true)
		o.absent.Store(false)
	case o.missing(err):
		if !o.absent.Swap(true) {
			klog.FromContext(ctx).V(1).Info("There are none for now", "resource", o.resource, "reason", err)
		}
		return o.none(), nil
	}
	return list, err
}

// missing reports whether an error means that there are no such objects for us. If the right to read them is lost later, the
// known objects stay.
func (o *optional) missing(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && !o.listed.Load()
}

// watch returns no events for a while if the kind was and is not served. If that has changed, it returns an error that leads
// to a new list.
func (o *optional) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := o.watches(ctx, options)
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
func (o *optional) silence() watch.Interface {
	events := make(chan watch.Event)
	w := watch.NewProxyWatcher(events)
	timer := o.clock.NewTimer(absencePeriod)
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
