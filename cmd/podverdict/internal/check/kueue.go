package check

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime/binding"
)

const (
	// readyTimeout is how long Kueue waits for the Pods of a Workload to be ready again before it evicts the Workload, unless
	// waitForPodsReady sets another timeout.
	readyTimeout = 30 * time.Minute
)

// outlivesQueue finds retries whose delay is so long that Kueue evicts the Job first.
func (c *customPolicies) outlivesQueue(policy string, i int, r *v1alpha1.Rule, job *batchv1.Job) {
	if r.RetryDelay == nil || r.RetryDelay.Duration < readyTimeout || job.Labels[binding.KueueQueue] == "" {
		return
	}
	c.ruleFinding(policy, checkOutlivesQueue, i, r.Name, "retryDelay",
		fmt.Sprintf("Kueue evicts Job %s/%s while a Pod waits %s for its retry: by default it waits %s for Pods to be ready again",
			job.Namespace, job.Name, r.RetryDelay.Duration, readyTimeout),
		"set a retryDelay of less than waitForPodsReady.recoveryTimeout of Kueue")
}
