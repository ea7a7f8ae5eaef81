package main

import (
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/history"
	"github.com/podverdict/podverdict/controller/leadership"
	"github.com/podverdict/podverdict/controller/living"
	"github.com/podverdict/podverdict/controller/plan"
)

// flags holds the command-line flags. If kube-controller-manager has a corresponding flag, its name and default are the same.
type flags struct {
	kubeconfig string
	qps        float32
	burst      int

	namespace   string
	observe     bool
	observeOnly bool
	kubernetes  string
	workers     int
	batchPeriod time.Duration
	settings    plan.Settings
	// livingPeriod is the interval between checks of pods whose rules do not determine when they are due.
	livingPeriod time.Duration
	// lostPodPeriod is the time after which a pod that was ended on a lost node is deleted by force.
	lostPodPeriod time.Duration

	history        string
	historySize    resource.QuantityValue
	historyFileAge time.Duration

	elect    bool
	election leadership.Election

	healthAddress, metricsAddress string
	metricsAuthentication         bool
	certificateFile, keyFile      string
	profiling                     bool

	logging logging
}

func (f *flags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says where the API server is, and as whom to call it; without it, the pod's service account")
	fs.Float32Var(&f.qps, "kube-api-qps", 20, "calls per second by which Jobs are run, events, lists and watches aside; negative for no limit")
	fs.IntVar(&f.burst, "kube-api-burst", 30, "calls that may come at once before kube-api-qps holds")

	fs.StringVar(&f.namespace, "namespace", "", "the only namespace to look at; all without it")
	fs.BoolVar(&f.observe, "observe", true, "tell the verdicts on the pods of Jobs that others run")
	fs.BoolVar(&f.observeOnly, "observe-only", false, "run no Jobs and write no pods: only tell")
	fs.StringVar(&f.kubernetes, "kubernetes", compiler.DefaultVersion, "version of Kubernetes whose meaning podFailurePolicies have")
	fs.IntVar(&f.workers, "concurrent-job-syncs", 5, "Jobs that are worked on at a time")
	fs.DurationVar(&f.batchPeriod, "job-batch-period", time.Second, "time for which a Job's pods are created before it is looked at again, and between two writes of its counters")
	fs.DurationVar(&f.livingPeriod, "living-period", living.DefaultPeriod, "time between two looks at pods whose rules do not say when they are due")
	fs.DurationVar(&f.lostPodPeriod, "lost-pod-period", living.DefaultLostPeriod, "time after which a pod that was ended on a lost node is removed by force")
	fs.DurationVar(&f.settings.Backoff, "pod-failure-backoff", 10*time.Second, "delay before the first failed pod of a Job or index is replaced; it doubles with each further failure")
	fs.DurationVar(&f.settings.MaxBackoff, "pod-failure-max-backoff", 10*time.Minute, "longest such delay")
	fs.IntVar(&f.settings.MaxHeld, "max-held-pods", 5000, "ended pods of a running Job that keep their finalizer, twice as many while there are pods to create; more cost a call each")

	fs.StringVar(&f.history, "history", "", "directory in which verdicts and finished Jobs are kept, as NDJSON; - for standard output; empty for none")
	f.historySize.Quantity = resource.MustParse("1Gi")
	fs.Var(&f.historySize, "history-size", "bytes of all files of the history, each of a sixteenth; the oldest are deleted for the newest")
	fs.DurationVar(&f.historyFileAge, "history-file-age", time.Hour, "time after which the next line begins a new file")

	fs.BoolVar(&f.elect, "leader-elect", true, "work only while this replica has the lease")
	fs.StringVar(&f.election.Namespace, "leader-elect-resource-namespace", "podverdict-system", "namespace of the lease")
	fs.StringVar(&f.election.Name, "leader-elect-resource-name", "podverdict-controller", "name of the lease")
	fs.DurationVar(&f.election.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long the others wait for a leader that does not renew the lease; whole seconds")
	fs.DurationVar(&f.election.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew the lease before it gives up")
	fs.DurationVar(&f.election.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "time between two tries to get or renew the lease")

	fs.StringVar(&f.healthAddress, "health-bind-address", ":8081", "address of /healthz and /readyz; empty for none")
	fs.StringVar(&f.metricsAddress, "metrics-bind-address", ":8443", "address of /metrics; empty for none")
	fs.BoolVar(&f.metricsAuthentication, "metrics-authentication", true, "serve /metrics by HTTPS to those alone whom the API server lets get that path; false: to all, and by HTTP unless there is a certificate")
	fs.StringVar(&f.certificateFile, "tls-cert-file", "", "certificate of /metrics, with its chain; a self-signed one without it. It is read for each connection, so it may be renewed")
	fs.StringVar(&f.keyFile, "tls-private-key-file", "", "key of that certificate")
	fs.BoolVar(&f.profiling, "profiling", false, "also serve profiles of the process, /debug/pprof/, at metrics-bind-address, to those who may get that path")

	f.logging.add(fs)
}

// flagCheck is a check of a flag, with the error message if the value is not right.
type flagCheck struct {
	flag    string
	value   any
	right   bool
	message string
}

// check returns the first error in the flags, with the name of the flag.
func (f *flags) check() error {
	checks := []flagCheck{
		{"kube-api-qps", f.qps, f.qps != 0, "must not be 0; negative is no limit"},
		{"kube-api-burst", f.burst, f.burst > 0, positive},
		{"namespace", f.namespace, f.namespace == "" || isLabel(f.namespace), noLabel},
		{"concurrent-job-syncs", f.workers, f.workers > 0, positive},
		{"job-batch-period", f.batchPeriod, f.batchPeriod > 0, positive},
		{"living-period", f.livingPeriod, f.livingPeriod > 0, positive},
		{"lost-pod-period", f.lostPodPeriod, f.lostPodPeriod > 0, positive},
		{"pod-failure-backoff", f.settings.Backoff, f.settings.Backoff > 0, positive},
		{"pod-failure-max-backoff", f.settings.MaxBackoff, f.settings.MaxBackoff >= f.settings.Backoff, "must not be less than --pod-failure-backoff"},
		{"max-held-pods", f.settings.MaxHeld, f.settings.MaxHeld > 0, positive},
		{"history-size", &f.historySize, f.historySize.Value() >= history.MinBytes, "must be 16Mi or more"},
		{"history-file-age", f.historyFileAge, f.historyFileAge > 0, positive},
		{"observe", f.observe, f.observe || !f.observeOnly, "leaves nothing to do with --observe-only"},
		{"tls-private-key-file", f.keyFile, (f.keyFile == "") == (f.certificateFile == ""), "must be given with --tls-cert-file, and only then"},
		{"metrics-bind-address", f.metricsAddress, f.metricsAddress == "" || f.metricsAddress != f.healthAddress || !f.secure(), "must not be that of --health-bind-address, which is for HTTP"},
	}
	if f.elect {
		checks = append(checks, f.electionChecks()...)
	}
	for _, c := range checks {
		if !c.right {
			return errFlag(c.flag, c.value, c.message)
		}
	}
	return nil
}

// secure reports whether /metrics is served over HTTPS.
func (f *flags) secure() bool { return f.metricsAuthentication || f.certificateFile != "" }

func (f *flags) electionChecks() []flagCheck {
	e := f.election
	atLeast := time.Duration(leaderelection.JitterFactor * float64(e.RetryPeriod))
	return []flagCheck{
		{"leader-elect-resource-namespace", e.Namespace, isLabel(e.Namespace), noLabel},
		{"leader-elect-resource-name", e.Name, len(validation.IsDNS1123Subdomain(e.Name)) == 0, "must be the name of an object"},
		{"leader-elect-lease-duration", e.LeaseDuration, e.LeaseDuration >= time.Second && e.LeaseDuration%time.Second == 0, "must be whole seconds"},
		{"leader-elect-retry-period", e.RetryPeriod, e.RetryPeriod > 0, positive},
		{"leader-elect-renew-deadline", e.RenewDeadline, e.RenewDeadline > atLeast, "must be longer than 1.2 times --leader-elect-retry-period"},
		{"leader-elect-renew-deadline", e.RenewDeadline, e.RenewDeadline < e.LeaseDuration, "must be shorter than --leader-elect-lease-duration"},
	}
}

func isLabel(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }
