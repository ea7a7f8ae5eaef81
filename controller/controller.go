package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/internal/observing"
	"github.com/podverdict/podverdict/controller/internal/policies"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/internal/running"
	"github.com/podverdict/podverdict/controller/living"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

// Controller runs Jobs and records verdicts. Create it with New and call Run once.
type Controller struct {
	options Options

	caches    *caches.Caches
	recorder  *recorder.Recorder
	policies  *policies.Registry
	observing *observing.Loop
	living    *living.Loop
	running   *running.Loop // nil in observe-only mode
	ready     atomic.Bool
}

// configs are the client configurations for the API server. Each has its own rate limit.
type configs struct{ watches, writes, spare, events *rest.Config }

func newConfigs(config *rest.Config, counts *metrics.Metrics) configs {
	config = rest.CopyConfig(config)
	config.Wrap(counts.Transport)
	config.DisableCompression = true // within a cluster it costs more time than it saves: each event of a watch is compressed separately
	c := configs{rest.CopyConfig(config), rest.CopyConfig(config), rest.CopyConfig(config), rest.CopyConfig(config)}
	c.watches.QPS, c.watches.RateLimiter = -1, nil
	c.writes.Timeout, c.writes.RateLimiter = running.CallTimeout, fair.NewLimiter(config)
	c.spare.Timeout, c.spare.RateLimiter = running.CallTimeout, fair.NewSpareLimiter(c.writes.RateLimiter)
	c.events.QPS, c.events.Burst, c.events.RateLimiter, c.events.Timeout = recorder.QPS, recorder.Burst, nil, running.CallTimeout
	return c
}

// New returns a Controller that is not running yet. It returns an error if the options are invalid.
func New(o Options) (*Controller, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return nil, fmt.Errorf("the feature %s of client-go is off: without it caches do not say how new they are", clientfeatures.AtomicFIFO)
	}
	environment, err := compiler.NewEnvironment(o.Kubernetes)
	if err != nil {
		return nil, err
	}
	programs := policies.NewPrograms(environment, o.Metrics)
	configs := newConfigs(o.Config, o.Metrics)
	watches, watchErr := kubernetes.NewForConfig(configs.watches)
	writes, writeErr := kubernetes.NewForConfig(configs.writes)
	spare, spareErr := kubernetes.NewForConfig(configs.spare)
	events, eventErr := kubernetes.NewForConfig(configs.events)
	if err := errors.Join(watchErr, writeErr, spareErr, eventErr); err != nil {
		return nil, err
	}
	c := &Controller{options: o, recorder: recorder.New(events, o.Metrics, o.Clock)}
	if c.caches, err = caches.New(watches, o.Namespace, o.Observe); err != nil {
		return nil, err
	}
	if o.History != nil {
		c.caches.KeepHistory()
	}
	if c.policies, err = policies.New(policies.Options{
		Client: watches, Watches: configs.watches, Writes: configs.events, Namespace: o.Namespace, Others: o.Observe, Environment: environment,
		Caches: c.caches, Recorder: c.recorder, Metrics: o.Metrics, Clock: o.Clock,
	}); err != nil {
		return nil, err
	}
	c.observing = observing.New(observing.Options{
		Client: events, Caches: c.caches, Others: o.Observe, Program: programs.Of, Selection: c.policies.Selection, Count: c.policies.Count,
		History: o.History.Judged, Recorder: c.recorder, Metrics: o.Metrics, Clock: o.Clock,
	})
	c.living = living.New(living.Options{
		Client: writes, Caches: c.caches, Others: o.Observe, ObserveOnly: o.ObserveOnly, Selection: c.policies.Selection,
		Count: c.policies.CountLiving, Recorder: c.recorder, Metrics: o.Metrics, Clock: o.Clock,
		Period: o.LivingPeriod, LostPeriod: o.LostPodPeriod,
	})
	c.policies.Subscribe(c.living.PoliciesChanged)
	if !o.ObserveOnly {
		c.running = running.New(running.Options{
			Client: writes, Spare: spare, Caches: c.caches, Program: programs.Of, Selection: c.policies.Selection, Judged: c.observing.Judged,
			Recorder: c.recorder, Metrics: o.Metrics, Clock: o.Clock,
			Workers: o.Workers, QPS: o.Config.QPS, BatchPeriod: o.BatchPeriod, Settings: o.Settings,
		})
		c.policies.Subscribe(c.running.PoliciesChanged)
	}
	return c, errors.Join(c.caches.Subscribe(c.jobChanged, c.podChanged), c.caches.SubscribeNodes(c.nodeChanged))
}

// Ready returns nil after the caches have synced.
func (c *Controller) Ready() error {
	if !c.ready.Load() {
		return errors.New("the caches are not filled yet")
	}
	return nil
}

// Run works until ctx is done and all of its work has ended. Call it while holding the lease, because it starts by listing the newest
// state.
func (c *Controller) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx)) // outlives the loops
	var loops, history sync.WaitGroup
	history.Go(func() { c.options.History.Run(writing) })
	defer history.Wait()
	defer stopWriting()
	defer loops.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := c.recorder.Start(ctx, &loops); err != nil {
		return err
	}
	logger.Info("Waiting for the caches")
	filled := c.policies.Start(ctx, &loops) && c.caches.Start(ctx, &loops) // policies first: they determine which fields the caches keep
	loops.Go(func() { c.observing.Run(ctx) })                              // these loops return as soon as ctx is done
	if c.running != nil {
		loops.Go(func() { c.running.Run(ctx) })
	}
	if !filled {
		return nil
	}
	loops.Go(func() { c.living.Run(ctx) })
	c.ready.Store(true)
	defer c.ready.Store(false)
	logger.Info("Running", "manager", Name, "workers", c.options.Workers)
	<-ctx.Done()
	logger.Info("Stopping")
	return nil
}

// jobChanged passes a change of a Job to the loops. Before and after differ in UID if a Job was deleted and recreated while the watch was
// down. This is handled as a deletion and a creation.
func (c *Controller) jobChanged(before, after *batchv1.Job) {
	if before != nil && after != nil && before.UID != after.UID {
		c.jobChanged(before, nil)
	}
	c.guard(func() {
		if before != nil && after == nil {
			c.policies.JobGone(before)
			c.observing.JobGone(before)
		}
		if after != nil && plan.Finished(after) && (before == nil || !plan.Finished(before)) && (c.options.Observe || plan.Managed(after)) {
			c.options.History.Finished(after)
		}
		if c.running != nil {
			c.running.JobChanged(before, after)
		}
		c.living.JobChanged(before, after)
	})
}

// podChanged passes a change of a pod to the loops.
func (c *Controller) podChanged(before, after *corev1.Pod) {
	c.guard(func() {
		c.options.Metrics.PodSeen(before, after)
		if c.running != nil {
			c.running.PodChanged(before, after)
		}
		c.observing.PodChanged(before, after)
		c.living.PodChanged(before, after)
	})
}

// nodeChanged passes a change of a node to the loop that handles it.
func (c *Controller) nodeChanged(before, after *corev1.Node) {
	c.guard(func() { c.living.NodeChanged(before, after) })
}

// guard runs handle and recovers from a panic, so that one object cannot stop the handling of others.
func (c *Controller) guard(handle func()) {
	_ = c.options.Metrics.Guard(context.Background(), metrics.ReadingCache, func() error { // Guard has logged it
		handle()
		return nil
	})
}
