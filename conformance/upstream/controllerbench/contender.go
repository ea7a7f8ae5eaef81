package controllerbench

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
)

// podBackoff is the delay after a failure and the longest one, as in upstream's benchmark.
const podBackoff = 100 * time.Millisecond

// workers is upstream's default, concurrent-job-syncs.
const workers = 5

// A Contender is a Job controller.
type Contender struct {
	Name      string
	managedBy *string // of the Jobs that it runs

	// run runs it until the context is done, and says when it is up: its caches are filled.
	run func(ctx context.Context, config *rest.Config, namespace string, up func()) error
}
