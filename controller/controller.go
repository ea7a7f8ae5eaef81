package controller

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// Controller runs Jobs. Make one with New, and run it once.
type Controller struct {
	options Options

	jobs, pods  cache.SharedIndexInformer
	policies    *registry
	reconciler  *reconciler
	orphanage   *orphanage
	freed       *freedPods
	pending     *pendingPods
	observer    *observer
	broadcaster events.EventBroadcaster
	events      *eventQueue
	jobQueue    queue[types.NamespacedName]
	orphanQueue queue[types.NamespacedName]
	ready       atomic.Bool
}

const (
	// minDelay and maxDelay are those after errors. The latter is upstream's.
	minDelay, maxDelay = 200 * time.Millisecond, time.Minute
	// maxWidth is how many calls are made at a time for one Job.
	maxWidth = 64
	// freeingWorkers is how many finalizers are removed at a time from pods on which nothing depends.
	freeingWorkers = 4
)

func newKeyQueue(o Options, workers int) queue[types.NamespacedName] {
	return newQueue(o.Clock, workers, minDelay, maxDelay, func(key types.NamespacedName) string { return key.Namespace })
}

// width is how many calls are made at a time for one Job: as many as the limit lets through in a batch period, or the calls of
// other Jobs would wait for those of a large one.
func width(o Options) int {
	qps := cmp.Or(o.Config.QPS, rest.DefaultQPS)
	if qps < 0 {
		return maxWidth
	}
	return max(1, min(maxWidth, int(math.Ceil(float64(qps)*o.BatchPeriod.Seconds()))))
}

// clients of the API server, each with the limits that fit it.
type clients struct {
	watches, writes, events     kubernetes.Interface
	spare                       kubernetes.Interface // for calls that can wait until no other is to be made
	policyWatches, policyWrites *policyClient
}

func newClients(config *rest.Config, metrics *Metrics) (clients, error) {
	config = rest.CopyConfig(config)
	config.Wrap(metrics.transport)
	writes := rest.CopyConfig(config)
	writes.Timeout, writes.RateLimiter = callTimeout, newCallTurns(config)
	watches := rest.CopyConfig(config)
	watches.QPS, watches.RateLimiter = -1, nil
	told := rest.CopyConfig(config)
	told.QPS, told.Burst, told.RateLimiter, told.Timeout = eventQPS, eventBurst, nil, callTimeout
	spare := rest.CopyConfig(writes)
	spare.RateLimiter = newSpareCalls(writes.RateLimiter)
	var c clients
	var errs [6]error
	c.writes, errs[0] = kubernetes.NewForConfig(writes)
	c.watches, errs[1] = kubernetes.NewForConfig(watches)
	c.events, errs[2] = kubernetes.NewForConfig(told)
	c.policyWatches, errs[3] = newPolicyClient(watches)
	c.policyWrites, errs[4] = newPolicyClient(told)
	c.spare, errs[5] = kubernetes.NewForConfig(spare)
	return c, errors.Join(errs[:]...)
}

// maxPrograms is how many compiled policies are kept; each takes some 10 KB.
const maxPrograms = 1000

// New returns a Controller that has not begun. The error is that of options which make no sense.
func New(o Options) (*Controller, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return nil, errFeature(clientfeatures.AtomicFIFO)
	}
	c := &Controller{options: o, jobQueue: newKeyQueue(o, o.Workers), orphanQueue: newKeyQueue(o, 1)}
	clients, err := newClients(o.Config, o.Metrics)
	if err != nil {
		return nil, err
	}
	programs, err := newPrograms(o.Kubernetes, maxPrograms, o.Metrics)
	if err != nil {
		return nil, err
	}
	c.broadcaster = events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.events.EventsV1()})
	c.events = newEventQueue(o, c.broadcaster)
	if c.policies, err = newRegistry(o, clients, c.events); err != nil {
		return nil, err
	}
	if c.jobs, err = newJobInformer(clients.watches, o.Namespace, c.policies.caching); err != nil {
		return nil, err
	}
	if c.pods, err = newPodInformer(clients.watches, o.Namespace, c.policies.caching); err != nil {
		return nil, err
	}
	c.observer = newObserver(o, c.jobs.GetIndexer(), c.pods.GetIndexer(), clients.events, programs, c.policies)
	c.orphanage = &orphanage{client: clients.writes, jobs: c.jobs.GetIndexer(), pods: c.pods.GetIndexer()}
	c.freed = &freedPods{client: clients.spare, cached: c.pods.GetIndexer(), queue: newKeyQueue(o, freeingWorkers), pods: map[types.NamespacedName]*corev1.Pod{}}
	c.reconciler = &reconciler{
		client: clients.writes, jobs: c.jobs.GetIndexer(), pods: c.pods.GetIndexer(), programs: programs, policies: c.policies,
		settings: o.Settings, batchPeriod: o.BatchPeriod, width: width(o), clock: o.Clock, metrics: o.Metrics,
		recorder: c.events.recorder(scheme.Scheme), judged: c.observer.judged, free: c.freed.add,
	}
	c.observer.recorder = c.reconciler.recorder
	c.pending = newPendingPods(o, clients.writes, c.jobs.GetIndexer(), c.pods.GetIndexer(), c.policies, c.reconciler.recorder)
	if err := c.handle(); err != nil {
		return nil, err
	}
	return c, nil
}

// Ready is nil when the caches are filled.
func (c *Controller) Ready() error {
	if !c.ready.Load() {
		return errNotReady()
	}
	return nil
}

// Run works until ctx is done, and returns when nothing of it is under way any more. It begins with lists of the newest
// state, so it is to be called when the lease is held.
func (c *Controller) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer c.jobQueue.ShutDown()
	defer c.orphanQueue.ShutDown()
	defer c.freed.queue.ShutDown()
	defer c.policies.statuses.queue.ShutDown()
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	defer c.broadcaster.Shutdown()
	running.Go(func() { c.events.run(ctx) })
	logger.Info("Waiting for the caches")
	synced := c.fill(ctx, &running)
	running.Go(func() { c.observer.run(ctx) }) // which ends at once when ctx is done
	if !synced {
		return nil
	}
	c.ready.Store(true)
	defer c.ready.Store(false)
	logger.Info("Running", "manager", Name, "workers", c.options.Workers)
	for range c.options.Workers + reserve {
		running.Go(func() { c.work(ctx, c.jobQueue, workingOnJob, c.syncJob) })
	}
	for range 1 + reserve {
		running.Go(func() { c.work(ctx, c.orphanQueue, releasingOrphan, c.syncOrphan) })
	}
	for range freeingWorkers + reserve {
		running.Go(func() { c.work(ctx, c.freed.queue, freeingPod, c.syncFreed) })
	}
	running.Go(func() { c.pending.run(ctx) })
	<-ctx.Done()
	logger.Info("Stopping")
	return nil
}

// fill waits for the caches. Policies come first: they say what is to be kept of Jobs and pods.
func (c *Controller) fill(ctx context.Context, running *sync.WaitGroup) (synced bool) {
	c.policies.start(ctx, running)
	if !cache.WaitForCacheSync(ctx.Done(), c.policies.synced) {
		return false
	}
	c.policies.build(ctx) // before anybody asks
	running.Go(func() { c.policies.follow(ctx) })
	running.Go(func() { c.jobs.RunWithContext(ctx) })
	running.Go(func() { c.pods.RunWithContext(ctx) })
	return cache.WaitForCacheSync(ctx.Done(), c.jobs.HasSynced, c.pods.HasSynced)
}

// work takes keys until the queue is shut down.
func (c *Controller) work(
	ctx context.Context, q queue[types.NamespacedName], doing activity, sync func(context.Context, types.NamespacedName) (time.Duration, error),
) {
	for {
		key, down := q.Get()
		if down || ctx.Err() != nil {
			return
		}
		again := time.Duration(0)
		err := c.options.Metrics.guard(ctx, doing, func() (err error) {
			again, err = sync(inNamespace(ctx, key.Namespace), key)
			return err
		})
		switch {
		case ctx.Err() != nil:
		case err != nil:
			klog.FromContext(ctx).Error(err, "Will try again", "key", key, "failures", q.NumRequeues(key)+1)
			q.AddRateLimited(key)
		default:
			q.Forget(key)
		}
		if again > 0 && ctx.Err() == nil {
			q.AddAfter(key, again)
		}
		q.Done(key)
	}
}

func (c *Controller) syncJob(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	return c.reconciler.sync(ctx, key)
}

func (c *Controller) syncOrphan(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	return 0, c.orphanage.sync(ctx, key)
}

func (c *Controller) syncFreed(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	return 0, c.freed.sync(ctx, key)
}
