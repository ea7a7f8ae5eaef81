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

// retryDelays returns the delays between two attempts to watch. The first one also keeps servers that end every watch at once
// from being asked without a pause.
func retryDelays() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
}

// delaysReset is how often the delays start over.
const delaysReset = time.Minute

// Watch passes the Pods of a query in phase Failed to the listener, first those that exist. It goes on until the
// context is done or the request timeout is over, and then returns nil. A connection that is lost is made again; what is
// wrong from the start, or not allowed, is an error.
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

// ended returns nil for an error that comes from the end of the context.
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

// permanent reports whether trying again is of no use.
func permanent(err error) bool {
	_, stopped := errors.AsType[*stopError](err)
	return stopped || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// watcher follows the Pods that fail, from list to watch to watch.
type watcher struct {
	*Cluster
	Listener

	selection *selection
	namespace string
	options   metav1.ListOptions
	first     bool // nothing is listed yet
	broken    bool // the last attempt failed
	judged    sets.Set[types.UID]
	jobs      *lru.Cache // of Jobs by their origins; nil when one is gone
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

// run watches from a resource version on. It goes on where a watch ended, so that what happens in between is not lost,
// and lists again when the API server has forgotten that version, which is then "".
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

// attempt watches once, after a list if that is needed. It returns the version to go on from.
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

// follow takes the events of a watch, each before the version moves on to it.
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

// list takes the Pods that have failed, and forgets those that are no longer there.
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

// lost and found say once that the API server is out of reach, and that it is back.
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
