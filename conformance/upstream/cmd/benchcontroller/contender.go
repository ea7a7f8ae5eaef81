package main

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	upstreamjob "k8s.io/kubernetes/pkg/controller/job"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/garbage"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

const (
	podBackoff = 100 * time.Millisecond // after a failure, and the longest one, as in upstream's benchmark
	workers    = 5                      // upstream's default, concurrent-job-syncs
)

// A contender is a Job controller.
type contender struct {
	name      string
	managedBy *string // spec.managedBy of its Jobs

	// run runs the controller until the context is done, and calls up when its caches are filled.
	run func(ctx context.Context, config *rest.Config, namespace string, up func()) error
}

// upstream returns the Job controller of kube-controller-manager. Its back-off is a variable of its package.
func upstream() contender {
	upstreamjob.DefaultJobPodFailureBackOff, upstreamjob.MaxJobPodFailureBackOff = podBackoff, podBackoff
	return contender{name: "upstream", run: runUpstream}
}

// runUpstream uses a separate client for caches, as kube-controller-manager does.
func runUpstream(ctx context.Context, config *rest.Config, namespace string, up func()) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	reader, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	caches := informers.NewSharedInformerFactoryWithOptions(reader, 0, informers.WithNamespace(namespace))
	controller, err := upstreamjob.NewController(ctx, client, caches.Core().V1().Pods(), caches.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return err
	}
	defer caches.Shutdown()
	caches.StartWithContext(ctx)
	if synced := caches.WaitForCacheSyncWithContext(ctx); synced.Err != nil {
		return synced.Err
	}
	up()
	controller.Run(ctx, workers)
	return nil
}

// podverdict returns the controller of package controller. It tunes garbage collection like its program.
func podverdict() contender {
	return contender{name: "podverdict", managedBy: new(controller.Name), run: runPodverdict}
}

func runPodverdict(ctx context.Context, config *rest.Config, namespace string, up func()) error {
	if os.Getenv("GOGC") == "" {
		garbage.Limit()
	}
	metrics, err := metrics.New(prometheus.NewRegistry())
	if err != nil {
		return err
	}
	c, err := controller.New(controller.Options{
		Config: config, Namespace: namespace, Workers: workers, Metrics: metrics,
		Settings: plan.Settings{Backoff: podBackoff, MaxBackoff: podBackoff},
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for c.Ready() != nil {
		select {
		case <-time.After(10 * time.Millisecond):
		case err := <-ended:
			return err
		}
	}
	up()
	return <-ended
}
