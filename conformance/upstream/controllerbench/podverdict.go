package controllerbench

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

// Podverdict returns the controller of package controller.
func Podverdict() Contender {
	name := controller.Name
	return Contender{Name: "podverdict", managedBy: &name, run: runPodverdict}
}

func runPodverdict(ctx context.Context, config *rest.Config, namespace string, up func()) error {
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
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for c.Ready() != nil {
		select {
		case <-tick.C:
		case err := <-ended:
			return err
		}
	}
	up()
	return <-ended
}
