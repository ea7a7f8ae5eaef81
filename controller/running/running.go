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

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Options are what the loop works with. All but Settings are needed.
type Options struct {
	// Client makes the calls by which Jobs are run. Its calls have CallTimeout.
	Client kubernetes.Interface
	// Spare makes the calls that can wait until no other is to be made.
	Spare  kubernetes.Interface
	Caches *caches.Caches
	// Program compiles the podFailurePolicy of a Job; it returns nil for none.
	Program func(*batchv1.PodFailurePolicy) (*runtime.Program, error)
	// Selection returns the custom policies in force for a Job. The error is that this is not known yet.
	Selection func(context.Context, *batchv1.Job) (binding.Selection, error)
	// Judged is called with the verdict on each pod in phase Failed, and with the verdicts that nobody carries out.
	Judged   func(pod *corev1.Pod, decided runtime.Verdict, would []binding.Would)
	Recorder events.EventRecorder
	Metrics  *metrics.Metrics
	Clock    clock.WithTicker
	// Workers is how many Jobs are worked on at a time.
	Workers int
	// QPS bounds the calls of Client for one second; 0 is client-go's default, and less is no bound.
	QPS float32
	// BatchPeriod is how long pods are created before the Job is looked at again, and the time between two writes of its
	// counters meanwhile.
	BatchPeriod time.Duration
	// Settings are those of the decisions.
	Settings plan.Settings
}

// Loop runs the managed Jobs in the caches.
type Loop struct {
	options    Options
	reconciler *reconciler
	orphans    *orphans
	freed      *freedPods
	queue      keyQueue // of Jobs
}

const (
	// minDelay and maxDelay are those after errors. The latter is upstream's.
	minDelay, maxDelay = 200 * time.Millisecond, time.Minute
	// maxWidth is how many calls are made at a time for one Job.
	maxWidth = 64
	// freeingWorkers is how many finalizers are removed at a time from pods on which nothing depends.
	freeingWorkers = 4
)

// New returns a loop that has not begun. Its queues end with Run, which must be called even if the context is done by then.
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

// width returns how many calls are made at a time for one Job: as many as the limit lets through in a batch period, or the calls of
// other Jobs would wait for those of a large one.
func width(qps float32, batchPeriod time.Duration) int {
	qps = cmp.Or(qps, rest.DefaultQPS)
	if qps < 0 {
		return maxWidth
	}
	return max(1, min(maxWidth, int(math.Ceil(float64(qps)*batchPeriod.Seconds()))))
}

// Run works until ctx is done, and returns when nothing is under way any more.
func (l *Loop) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { l.work(ctx, l.queue, l.options.Workers, metrics.WorkingOnJob, l.reconciler.sync) })
	running.Go(func() { l.work(ctx, l.orphans.queue, 1, metrics.ReleasingOrphan, l.orphans.sync) })
	running.Go(func() { l.work(ctx, l.freed.queue, freeingWorkers, metrics.FreeingPod, l.freed.sync) })
	running.Wait()
}

// keyQueue is of Jobs or pods.
type keyQueue = fair.Queue[types.NamespacedName]

// syncFunc looks at a Job or pod. It says when to look again though nothing happens, or 0 for never.
type syncFunc func(context.Context, types.NamespacedName) (time.Duration, error)

// work looks at what is in the queue until ctx is done.
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

// logFailure says why a Job or pod is looked at again. That somebody else changed it in between is no fault, nor that the caches list
// objects once more for a new rule.
func logFailure(ctx context.Context, err error, key types.NamespacedName, failures int) {
	logger := klog.FromContext(ctx).WithValues("key", key, "failures", failures)
	if apierrors.IsConflict(err) || errors.Is(err, caches.ErrNotKnownYet) {
		logger.V(2).Info("Will try again", "reason", err)
		return
	}
	logger.Error(err, "Will try again")
}

// PoliciesChanged has the managed Jobs of a namespace, or of all if it is empty, looked at because other rules may be in force.
func (l *Loop) PoliciesChanged(namespace string) {
	for _, object := range l.options.Caches.Jobs.List() {
		if job, ok := object.(*batchv1.Job); ok && (namespace == "" || job.Namespace == namespace) && plan.Managed(job) && !plan.Finished(job) {
			l.enqueue(job, false)
		}
	}
}

// JobChanged has a managed Job looked at, and the pods that it leaves when it is gone. One of the states may be nil. A change of
// the spec does not wait, as upstream: if a user suspends the Job and then deletes its pods, they must be dismissed by then.
func (l *Loop) JobChanged(before, after *batchv1.Job) {
	if after != nil {
		if plan.Managed(after) {
			l.enqueue(after, before != nil && before.Generation != after.Generation)
		}
		return
	}
	if before == nil || !plan.Managed(before) {
		return
	}
	l.enqueue(before, false)
	for _, pod := range l.options.Caches.PodsOf(plan.OwnerFor(before)) {
		l.orphans.enqueue(pod)
	}
}

// PodChanged has the Job of a pod looked at, and the pod if it has none. One of the states may be nil.
func (l *Loop) PodChanged(before, after *corev1.Pod) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod == nil {
			continue
		}
		if job := l.options.Caches.JobOf(pod); job != nil && plan.Managed(job) {
			l.enqueue(job, false)
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

// enqueue has the Job looked at soon, or at once. The more it takes to look at it, the more events are waited for. A Job whose
// look failed is not looked at more often than once a batch period, however many events there are.
func (l *Loop) enqueue(job *batchv1.Job, atOnce bool) {
	key := cache.MetaObjectToName(job).AsNamespacedName()
	wait := time.Duration(0)
	if !atOnce {
		wait = l.reconciler.states.coalescence(key)
	}
	if l.queue.NumRequeues(key) > 0 {
		wait = max(wait, l.options.BatchPeriod)
	}
	l.queue.AddAfter(key, wait)
}
