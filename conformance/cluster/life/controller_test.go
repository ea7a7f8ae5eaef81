//go:build cluster

package life

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// runController runs our controller in this process until the test ends.
func runController(t *testing.T, cluster *controlplane.Cluster) {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.QPS, config.Burst = 1000, 2000 // as the controller manager has
	c, err := controller.New(controller.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
