package running

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Options configure a Loop. All but Settings are required.
type Options struct {
	// Client makes the calls that run Jobs. They should be limited by CallTimeout.
	Client kubernetes.Interface
	// Spare makes low-priority calls, which wait until no others are needed.
	Spare  kubernetes.Interface
	Caches *caches.Caches
	// Program compiles the podFailurePolicy of a Job. It returns nil if there is none.
	Program func(*batchv1.PodFailurePolicy) (*runtime.Program, error)
	// Selection returns the custom policies in effect for a Job, or an error if they are not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	// Judged is called with the verdict on each failed pod, and with the verdicts that do not take effect.
	Judged   func(pod *corev1.Pod, decided runtime.Verdict, would []binding.Would)
	Recorder events.EventRecorder
	Metrics  *metrics.Metrics
	Clock    clock.WithTicker
	// Workers is the number of Jobs synced concurrently.
	Workers int
	// QPS is the rate limit of Client's calls. Zero means client-go's default, and a negative value no limit.
	QPS float32
	// BatchPeriod is how long pods are created before the Job is synced again. During this time, it is also the interval between two writes
	// of the Job's counters.
	BatchPeriod time.Duration
	// Settings are passed to plan.Next.
	Settings plan.Settings
}

// Loop runs the managed Jobs in the caches.
type Loop struct {
	options    Options
	reconciler *reconciler
	orphans    *orphans
	freed      *freedPods
	queue      keyQueue // queue of Jobs
}

const (
	// minDelay and maxDelay limit the delay after errors. maxDelay is upstream's.
	minDelay, maxDelay = 200 * time.Millisecond, time.Minute
	// maxWidth is the maximum number of parallel calls for one Job.
	maxWidth = 64
	// freeingWorkers is the number of workers that remove finalizers from pods on which nothing depends.
	freeingWorkers = 4
)

// New returns a loop that is not running yet. Call Run even if its context is already done: it shuts the queues down.
func New(o Options) *Loop {
	freed := &freedPods{client: o.Spare, caches: o.Caches, queue: newKeyQueue(o.Clock, freeingWorkers), pods: map[types.NamespacedName]*corev1.Pod{}}
	return &Loop{
		options:    o,
		reconciler: &reconciler{Options: o, width: width(o.QPS, o.BatchPeriod), free: freed.add},
		orphans:    &orphans{client: o.Client, caches: o.Caches, queue: newKeyQueue(o.Clock, 1)},
		freed:      freed,
		queue:      newKeyQueue(o.Clock, o.Workers),
	}
}

func newKeyQueue(clock clock.WithTicker, workers int) keyQueue {
	return fair.NewQueue(clock, workers, minDelay, maxDelay, func(key types.NamespacedName) string { return key.Namespace })
}

// width returns the number of parallel calls for one Job: as many as the rate limit allows in a batch period. With more, the calls of other
// Jobs would wait for the calls of a large one.
func width(qps float32, batchPeriod time.Duration) int {
	qps = cmp.Or(qps, rest.DefaultQPS)
	if qps < 0 {
		return maxWidth
	}
	return max(1, min(maxWidth, int(math.Ceil(float64(qps)*batchPeriod.Seconds()))))
}

// Run works until ctx is done and all workers have ended.
func (l *Loop) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { l.work(ctx, l.queue, l.options.Workers, metrics.WorkingOnJob, l.reconciler.sync) })
	running.Go(func() { l.work(ctx, l.orphans.queue, 1, metrics.ReleasingOrphan, l.orphans.sync) })
	running.Go(func() { l.work(ctx, l.freed.queue, freeingWorkers, metrics.FreeingPod, l.freed.sync) })
	running.Wait()
}

// keyQueue is a queue of Jobs or pods.
type keyQueue = fair.Queue[types.NamespacedName]

// syncFunc syncs a Job or pod. It returns when to sync again even if nothing changes, or 0 for never.
type syncFunc func(context.Context, types.NamespacedName) (time.Duration, error)

// work calls sync for the keys in a queue until ctx is done.
func (l *Loop) work(ctx context.Context, q keyQueue, workers int, doing metrics.Activity, sync syncFunc) {
	fair.Work(ctx, q, workers, func(key types.NamespacedName) {
		again := time.Duration(0)
		err := l.options.Metrics.Guard(ctx, doing, func() (err error) {
			again, err = sync(fair.InNamespace(ctx, key.Namespace), key)
			return err
		})
		switch {
		case ctx.Err() != nil:
		case err != nil:
			logFailure(ctx, err, key, q.NumRequeues(key)+1)
			q.AddRateLimited(key)
		default:
			q.Forget(key)
		}
		if again > 0 && ctx.Err() == nil {
			q.AddAfter(key, again)
		}
	})
}

// logFailure logs the reason for retrying a Job or pod. A change by another client, and objects being listed again for a new rule, are not
// logged as errors.
func logFailure(ctx context.Context, err error, key types.NamespacedName, failures int) {
	logger := klog.FromContext(ctx).WithValues("key", key, "failures", failures)
	if apierrors.IsConflict(err) || errors.Is(err, caches.ErrNotKnownYet) {
		logger.V(2).Info("Will try again", "reason", err)
		return
	}
	logger.Error(err, "Will try again")
}

// PoliciesChanged queues the unfinished managed Jobs of a namespace, or all if it is empty, because their rules may have changed.
func (l *Loop) PoliciesChanged(namespace string) {
	for _, object := range l.options.Caches.Jobs.List() {
		if job, ok := object.(*batchv1.Job); ok && (namespace == "" || job.Namespace == namespace) && plan.Managed(job) && !plan.Finished(job) {
			l.enqueue(job, l.coalescence(job))
		}
	}
}

// JobChanged queues a managed Job or, if it was deleted, its remaining pods. Before is nil for a new Job, and after for a deleted one. As
// upstream, a change of the spec does not wait: if a user suspends the Job and then deletes its pods, they must have been dismissed by
// then.
func (l *Loop) JobChanged(before, after *batchv1.Job) {
	if after != nil {
		if plan.Managed(after) {
			wait := l.coalescence(after)
			if before != nil && before.Generation != after.Generation {
				wait = 0
			}
			l.enqueue(after, wait)
		}
		return
	}
	if before == nil || !plan.Managed(before) {
		return
	}
	l.enqueue(before, l.coalescence(before))
	for _, pod := range l.options.Caches.PodsOf(plan.OwnerFor(before)) {
		l.orphans.enqueue(pod)
	}
}

// PodChanged queues the Job of a pod, or the pod if it has no Job. Before is nil for a new pod, and after for a deleted one.
func (l *Loop) PodChanged(before, after *corev1.Pod) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod == nil {
			continue
		}
		l.reconciler.states.podChanged(pod)
		if job := l.options.Caches.JobOf(pod); job != nil && plan.Managed(job) {
			l.enqueue(job, l.patience(job, before, after))
		}
	}
	switch {
	case after != nil:
		l.freed.changed(cache.MetaObjectToName(after).AsNamespacedName(), after)
		l.orphans.enqueue(after)
	case before != nil:
		l.freed.changed(cache.MetaObjectToName(before).AsNamespacedName(), nil)
	}
}

// patience returns how long a Job waits for more events after a change of a pod. Pods that appear, start, become ready or are released only
// change counters.
func (l *Loop) patience(job *batchv1.Job, before, after *corev1.Pod) time.Duration {
	if before == nil && !ended(after) || after == nil && ended(before) || before != nil && after != nil &&
		ended(before) == ended(after) && before.DeletionTimestamp.Equal(after.DeletionTimestamp) && before.UID == after.UID {
		return l.reconciler.patience(cache.MetaObjectToName(job).AsNamespacedName())
	}
	return l.coalescence(job)
}

// coalescence returns how long a Job waits for more events after one that is relevant.
func (l *Loop) coalescence(job *batchv1.Job) time.Duration {
	return l.reconciler.states.coalescence(cache.MetaObjectToName(job).AsNamespacedName())
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// enqueue queues the Job after a delay. A Job whose last sync failed waits for at least a batch period.
func (l *Loop) enqueue(job *batchv1.Job, wait time.Duration) {
	key := cache.MetaObjectToName(job).AsNamespacedName()
	if l.queue.NumRequeues(key) > 0 {
		wait = max(wait, l.options.BatchPeriod)
	}
	l.queue.AddAfter(key, wait)
}
