//go:build cluster

package disruption

import (
	"context"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/podverdict/podverdict/controller"
)

// startController runs ours until the test ends. It also tells the verdicts on the pods of
// native Jobs.
func (w *world) startController(t *testing.T) {
	t.Helper()
	c, err := controller.New(controller.Options{Config: w.cluster.Config, Namespace: w.namespace, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller: %v", err)
		}
	})
}
