package controller

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/history"
	"github.com/podverdict/podverdict/controller/living"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
)

// Name is the spec.managedBy of the Jobs that the controller runs (KEP-4368).
const Name = v1alpha1.JobController

// Options configure a Controller. Zero values select the defaults.
type Options struct {
	// Config is the client configuration. Its QPS and Burst limit the calls that run Jobs. Lists, watches and events have
	// their own limits.
	Config *rest.Config
	// Namespace is the only namespace to watch. Empty means all.
	Namespace string
	// Observe makes the controller also evaluate the pods of Jobs run by other controllers, and record the verdicts.
	Observe bool
	// ObserveOnly makes the controller run no Jobs and write no pods. It only records its observations.
	ObserveOnly bool
	// Workers is the number of Jobs synced concurrently. The default is 5, as for upstream's concurrent-job-syncs.
	Workers int
	// Settings are passed to plan.Next.
	Settings plan.Settings
	// BatchPeriod is how long pods are created before the Job is synced again. During this time, it is also the interval
	// between two writes of the Job's counters. The default is 1 second, as for upstream's SyncJobBatchPeriod.
	BatchPeriod time.Duration
	// LivingPeriod is the interval for checking pods whose rules do not determine when they are due. The default is
	// living.DefaultPeriod.
	LivingPeriod time.Duration
	// LostPodPeriod is how long a pod that was ended on a lost node may remain before it is removed by force. The default
	// is living.DefaultLostPeriod.
	LostPodPeriod time.Duration
	// Kubernetes is the version whose podFailurePolicy semantics apply. The default is compiler.DefaultVersion.
	Kubernetes string
	// History records verdicts and finished Jobs. Nil means no history.
	History *history.Writer
	// Metrics count the controller's work. If nil, unregistered metrics are used.
	Metrics *metrics.Metrics
	// Clock is the clock to use. If nil, it is the system clock.
	Clock clock.WithTicker
}

func (o Options) withDefaults() (_ Options, err error) {
	o.Workers = cmp.Or(o.Workers, 5)
	o.BatchPeriod = cmp.Or(o.BatchPeriod, time.Second)
	o.LivingPeriod = cmp.Or(o.LivingPeriod, living.DefaultPeriod)
	o.LostPodPeriod = cmp.Or(o.LostPodPeriod, living.DefaultLostPeriod)
	o.Kubernetes = cmp.Or(o.Kubernetes, compiler.DefaultVersion)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics, err = metrics.New(prometheus.NewRegistry())
	}
	return o, err
}
