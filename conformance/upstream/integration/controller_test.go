package integration

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/ktesting"
	upstreamjob "k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
)

// Reporter is the reporter of our events, where upstream has job-controller.
const Reporter = controller.Name

// Adopt makes our controller the manager of a Job that upstream's controller would run.
func Adopt(job *batchv1.Job) {
	if ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) == batchv1.JobControllerName {
		job.Spec.ManagedBy = new(controller.Name)
	}
}

// WithoutLedger returns a status without the condition that only our controller sets.
func WithoutLedger(status batchv1.JobStatus) batchv1.JobStatus {
	ours := func(c batchv1.JobCondition) bool { return c.Type == plan.LedgerCondition }
	status.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), ours)
	return status
}

// Start starts our controller, which runs until the returned function is called, and returns when its caches are filled.
// Upstream's settings are variables of its package, which the tests change. If delayed is true, the events of Jobs arrive
// late.
func Start(tb testing.TB, config *rest.Config, delayed bool) (context.Context, context.CancelFunc) {
	tb.Helper()
	keepAtomic()
	config = rest.CopyConfig(config)
	if delayed {
		config.Wrap(delayJobs)
	}
	c, err := controller.New(controller.Options{
		Config: config, Workers: 1, BatchPeriod: upstreamjob.SyncJobBatchPeriod, Metrics: counts.metrics,
		Settings: plan.Settings{
			Backoff: upstreamjob.DefaultJobPodFailureBackOff, MaxBackoff: upstreamjob.MaxJobPodFailureBackOff,
			MaxReleasing: upstreamjob.MaxUncountedPods, MaxCreate: upstreamjob.MaxPodCreateDeletePerSync,
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	_, ctx := ktesting.NewTestContext(tb)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Run(ctx); err != nil {
			tb.Error(err)
		}
	}()
	stop := func() { cancel(); <-ended }
	for deadline := time.Now().Add(time.Minute); c.Ready() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stop()
			tb.Fatal(c.Ready())
		}
	}
	return ctx, stop
}

// keepAtomic makes client-go's caches report their resource version, which the controller needs, even if a test makes the
// API server, which shares its process, emulate an earlier version.
var keepAtomic = sync.OnceFunc(func() { clientfeatures.ReplaceFeatureGates(atomicGates{clientfeatures.FeatureGates()}) })

type atomicGates struct{ clientfeatures.Gates }

// Enabled reports whether a feature is on.
func (g atomicGates) Enabled(feature clientfeatures.Feature) bool {
	return feature == clientfeatures.AtomicFIFO || g.Gates.Enabled(feature)
}
