//go:build !js

package cluster

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// retryDelays returns the delays between two attempts to watch. The first delay also limits the request rate to servers that
// end every watch at once.
func retryDelays() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
}

// delaysReset is the interval after which the delays start over.
const delaysReset = time.Minute

// Watch passes the query's Pods in phase Failed to the listener, existing ones first. It runs until the context is done or
// the request timeout expires, and then returns nil. Lost connections are restored. Errors before the first watch, and
// missing permissions, are returned.
func (c *Cluster) Watch(ctx context.Context, q Query, l Listener) error {
	s, err := c.resolve(ctx, q)
	if err != nil {
		return ended(ctx, err)
	}
	w := newWatcher(c, q, s, l)
	version, err := w.list(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	if len(w.judged) == 0 && !q.AllNamespaces {
		if err := c.CheckNamespace(ctx); err != nil {
			return err
		}
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return ended(ctx, w.run(ctx, version))
}

// ended returns nil for an error caused by the end of the context, and unwraps an error of the listener.
func ended(ctx context.Context, err error) error {
	if stopped, ok := errors.AsType[*stopError](err); ok {
		return stopped.error
	}
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// stopError is an error of the listener.
type stopError struct{ error }

// permanent reports whether retrying is useless.
func permanent(err error) bool {
	_, stopped := errors.AsType[*stopError](err)
	return stopped || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// watcher reports failed Pods across lists and watches.
type watcher struct {
	*Cluster
	Listener

	selection *selection
	namespace string
	options   metav1.ListOptions
	first     bool // no list has completed yet
	broken    bool // the last attempt failed
	judged    sets.Set[types.UID]
	jobs      *lru.Cache // Jobs by origin; nil for a Job that no longer exists
}

func newWatcher(c *Cluster, q Query, s *selection, l Listener) *watcher {
	w := &watcher{
		Cluster: c, Listener: l, selection: s, namespace: c.scope(q), first: true,
		judged: sets.Set[types.UID]{}, jobs: lru.New(maxKnownJobs),
	}
	w.options.FieldSelector = fields.OneTermEqualSelector("status.phase", string(corev1.PodFailed)).String()
	if selectors := podSelectors(s); s.closed() && len(selectors) == 1 {
		w.options.LabelSelector = selectors[0].String()
	}
	for _, job := range s.jobs {
		w.jobs.Add(origin{job.Namespace, manifest.Claim{Name: job.Name, UID: job.UID}}, job)
	}
	return w
}

// run watches from a resource version. Each watch starts at the version where the last one ended, so that no event in between
// is lost. If the API server no longer has that version, attempt returns "", and the next attempt lists again.
func (w *watcher) run(ctx context.Context, version string) error {
	delays := w.retry.DelayWithReset(clock.RealClock{}, delaysReset)
	return delays.Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		next, err := w.attempt(ctx, version)
		version = next
		if permanent(err) {
			return false, err
		}
		if err != nil && ctx.Err() == nil {
			w.lost(err)
		}
		return false, nil
	})
}

// attempt watches once, after a list if necessary. It returns the version to resume from.
func (w *watcher) attempt(ctx context.Context, version string) (string, error) {
	if version == "" {
		var err error
		if version, err = w.list(ctx); err != nil {
			return "", err
		}
	}
	options := w.options
	options.Watch, options.ResourceVersion, options.AllowWatchBookmarks = true, version, true
	stream, err := listRequest(w.core, Pod.plural(), w.namespace, options).Watch(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return "", nil
	}
	if err != nil {
		return version, w.failure(err, request{"watch", "pods", w.namespace})
	}
	defer stream.Stop()
	w.found()
	return w.follow(ctx, version, stream)
}

// follow handles the events of a watch. The version advances only after an event was handled.
func (w *watcher) follow(ctx context.Context, version string, stream watch.Interface) (string, error) {
	for event := range stream.ResultChan() {
		if event.Type == watch.Error {
			err := apierrors.FromObject(event.Object)
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				return "", nil
			}
			return version, w.failure(err, request{"watch", "pods", w.namespace})
		}
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		if event.Type != watch.Bookmark {
			if err := w.take(ctx, pod); err != nil {
				return version, err
			}
		}
		if event.Type == watch.Deleted {
			w.judged.Delete(pod.UID)
		}
		version = pod.ResourceVersion
	}
	return version, nil
}

// list handles the failed Pods, and forgets Pods that no longer exist.
func (w *watcher) list(ctx context.Context) (string, error) {
	all, version, err := w.listPods(ctx, w.namespace, w.options)
	if err != nil {
		return "", err
	}
	there := sets.Set[types.UID]{}
	for _, pod := range all {
		there.Insert(pod.UID)
		if err := w.take(ctx, pod); err != nil {
			return "", err
		}
	}
	w.judged = w.judged.Intersection(there)
	w.found()
	w.first = false
	return version, nil
}

// lost and found notify the user once when the API server becomes unreachable, and once when it is reachable again.
func (w *watcher) lost(err error) {
	if !w.broken {
		w.Notice(err.Error() + "; trying again")
	}
	w.broken = true
}

func (w *watcher) found() {
	if w.broken {
		w.Notice("connected again")
	}
	w.broken = false
}
