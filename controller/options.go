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

// Options configure a Controller. Zero values mean the defaults.
type Options struct {
	// Config is for the API server. Its QPS and Burst limit the calls that run Jobs; lists, watches and events have
	// limits of their own.
	Config *rest.Config
	// Namespace is the only namespace to watch; empty means all.
	Namespace string
	// Observe makes the controller also evaluate the pods of Jobs that other controllers run, and record the verdicts.
	Observe bool
	// ObserveOnly makes the controller run no Jobs and write no pods: it only records what it observes.
	ObserveOnly bool
	// Workers is how many Jobs are synced at a time. The default is 5, as for upstream's concurrent-job-syncs.
	Workers int
	// Settings are passed to plan.Next.
	Settings plan.Settings
	// BatchPeriod is how long pods are created before the Job is synced again, and the time between two writes of its
	// counters meanwhile. The default is 1 second, as for upstream's SyncJobBatchPeriod.
	BatchPeriod time.Duration
	// LivingPeriod is the interval at which pods are checked whose rules do not say when they are due. The default is
	// living.DefaultPeriod.
	LivingPeriod time.Duration
	// LostPodPeriod is how long a pod that was ended on a lost node may stay before it is removed by force. The default is
	// living.DefaultLostPeriod.
	LostPodPeriod time.Duration
	// Kubernetes is the version whose podFailurePolicy semantics apply. The default is compiler.DefaultVersion.
	Kubernetes string
	// History keeps the verdicts and the Jobs that have finished; nil for none.
	History *history.Writer
	// Metrics count the controller's work. If nil, unregistered metrics are used.
	Metrics *metrics.Metrics
	// Clock is the system clock if nil.
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
