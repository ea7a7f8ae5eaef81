package controller

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/pending"
	"github.com/podverdict/podverdict/controller/plan"
)

// Name is the spec.managedBy of the Jobs that the controller runs (KEP-4368).
const Name = v1alpha1.JobController

// Options of a Controller. Zero values are the defaults.
type Options struct {
	// Config is for the API server. Its QPS and Burst bound the calls by which Jobs are run; lists, watches and events are
	// apart from it.
	Config *rest.Config
	// Namespace is the only one that is looked at; all are when it is empty.
	Namespace string
	// Observe makes the controller also judge the pods of Jobs that others run, and record the verdicts.
	Observe bool
	// ObserveOnly makes the controller run no Jobs and write no pods: it only records what it sees.
	ObserveOnly bool
	// Workers is how many Jobs are worked on at a time; 5, as upstream's concurrent-job-syncs.
	Workers int
	// Settings are those of the decisions.
	Settings plan.Settings
	// BatchPeriod is how long pods are created before the Job is looked at again, and the time between two writes of
	// its counters meanwhile; 1 second, as upstream's SyncJobBatchPeriod.
	BatchPeriod time.Duration
	// PendingPeriod is the time between two looks at pods that do not start; pending.DefaultPeriod.
	PendingPeriod time.Duration
	// Kubernetes is the version whose meaning podFailurePolicies have; compiler.DefaultVersion.
	Kubernetes string
	// Metrics count what is done; nil means metrics that nobody reads.
	Metrics *metrics.Metrics
	// Clock is the system's when it is nil.
	Clock clock.WithTicker
}

func (o Options) withDefaults() (_ Options, err error) {
	o.Workers = cmp.Or(o.Workers, 5)
	o.BatchPeriod = cmp.Or(o.BatchPeriod, time.Second)
	o.PendingPeriod = cmp.Or(o.PendingPeriod, pending.DefaultPeriod)
	o.Kubernetes = cmp.Or(o.Kubernetes, compiler.DefaultVersion)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics, err = metrics.New(prometheus.NewRegistry())
	}
	return o, err
}
