package controllerbench

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	upstreamjob "k8s.io/kubernetes/pkg/controller/job"
)

// Upstream returns the Job controller of kube-controller-manager. Its back-off is a variable of its package, which this sets: call
// it before any trial.
func Upstream() Contender {
	upstreamjob.DefaultJobPodFailureBackOff, upstreamjob.MaxJobPodFailureBackOff = podBackoff, podBackoff
	return Contender{Name: "upstream", run: runUpstream}
}

// runUpstream gives caches a client of their own, as kube-controller-manager does.
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
