package main

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/history"
	"github.com/podverdict/podverdict/controller/leadership"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/serving"
)

// preflightTimeout bounds the check of permissions, whose result is only logged.
const preflightTimeout = 15 * time.Second

// leaseTolerance is the time that a leader may outlive its lease before /healthz fails and it is restarted, as upstream.
const leaseTolerance = 20 * time.Second

// process is the running program: the controller, optionally with leader election, and the HTTP servers.
type process struct {
	controller  *controller.Controller
	election    *leadership.Election // nil if leader election is disabled
	client      kubernetes.Interface
	permissions []controller.Permission
	servers     servers
	leads       atomic.Bool
}

// prepare creates the process. It returns an error if flags, kubeconfig or addresses are invalid.
func (f *flags) prepare() (*process, error) {
	if err := f.logging.start(os.Stderr); err != nil {
		return nil, err
	}
	if limit := limitMemory("/sys/fs/cgroup", os.Getenv); limit > 0 {
		klog.Background().Info("Memory is limited", "bytes", limit)
	}
	limitGarbage(os.Getenv)
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	metrics, err := f.metrics(registry)
	if err != nil {
		return nil, err
	}
	kept, err := history.New(history.Options{Directory: f.history, MaxBytes: f.historySize.Value(), MaxFileAge: f.historyFileAge, Metrics: metrics})
	if err != nil {
		return nil, errHistory(err)
	}
	p := &process{}
	if p.client, err = kubernetes.NewForConfig(preflightConfig(config)); err != nil {
		return nil, err
	}
	p.controller, err = controller.New(controller.Options{
		Config: config, Namespace: f.namespace, Observe: f.observe, ObserveOnly: f.observeOnly, Workers: f.workers, Settings: f.settings,
		BatchPeriod: f.batchPeriod, LivingPeriod: f.livingPeriod, LostPodPeriod: f.lostPodPeriod, Kubernetes: f.kubernetes, Metrics: metrics,
		History: kept,
	})
	if err != nil {
		return nil, err
	}
	if err := f.prepareElection(p, config); err != nil {
		return nil, err
	}
	return p, f.listen(p, config, registry)
}

// config returns the client configuration for the API server.
func (f *flags) config() (config *rest.Config, err error) {
	if f.kubeconfig == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, errNotInCluster(err)
		}
	} else if config, err = clientcmd.BuildConfigFromFlags("", f.kubeconfig); err != nil {
		return nil, errKubeconfig(f.kubeconfig, err)
	}
	config.QPS, config.Burst = f.qps, f.burst
	config.UserAgent = "podverdict-controller/" + version()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return config, nil
}

// preflightConfig returns a configuration without a rate limit for the few calls at startup.
func preflightConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout = -1, preflightTimeout
	return config
}

// metrics returns the controller's metrics, and registers them together with metrics of the process.
func (*flags) metrics(registry *prometheus.Registry) (*metrics.Metrics, error) {
	for _, collector := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(),
	} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return metrics.New(registry)
}

func (f *flags) prepareElection(p *process, config *rest.Config) error {
	if !f.elect {
		p.permissions = controller.Permissions(f.needs(types.NamespacedName{}))
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	e := f.election
	e.Config, e.Identity = config, host+"_"+string(uuid.NewUUID())
	e.Watchdog = leaderelection.NewLeaderHealthzAdaptor(leaseTolerance)
	p.election = &e
	p.permissions = controller.Permissions(f.needs(types.NamespacedName{Namespace: e.Namespace, Name: e.Name}))
	return nil
}

func (f *flags) needs(lease types.NamespacedName) controller.Needs {
	reviews := f.metricsAuthentication && f.metricsAddress != ""
	return controller.Needs{Namespace: f.namespace, ObserveOnly: f.observeOnly, Reviews: reviews, Lease: lease}
}

// listen opens the addresses. Both may be equal if both serve HTTP.
func (f *flags) listen(p *process, config *rest.Config, gathered prometheus.Gatherer) error {
	health := serving.Health(p.healthy, p.ready)
	if err := p.servers.add("health-bind-address", f.healthAddress, health, nil, "/healthz", "/readyz"); err != nil {
		return err
	}
	certificate, err := f.certificate()
	if err != nil {
		return err
	}
	guarded := func(h http.Handler) http.Handler { return h }
	if f.metricsAuthentication {
		reviews, err := kubernetes.NewForConfig(reviewConfig(config))
		if err != nil {
			return err
		}
		guarded = func(h http.Handler) http.Handler { return serving.Authorized(reviews, h) }
	}
	if f.profiling {
		if err := p.servers.add("metrics-bind-address", f.metricsAddress, guarded(profilingHandler()), certificate, profilingPath); err != nil {
			return err
		}
	}
	return p.servers.add("metrics-bind-address", f.metricsAddress, guarded(serving.Metrics(gathered)), certificate, "/metrics")
}

// certificate returns the certificate for /metrics, or nil if it is served over HTTP.
func (f *flags) certificate() (serving.Certificate, error) {
	switch {
	case f.metricsAddress == "" || !f.secure():
		return nil, nil //nolint:nilnil // nil means HTTP
	case f.certificateFile != "":
		c, err := serving.CertificateFromFiles(f.certificateFile, f.keyFile)
		if err != nil {
			return nil, errCertificate(f.certificateFile, err)
		}
		return c, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return serving.SelfSignedCertificate(host)
}

// reviewConfig returns a configuration that limits the calls to authorize requests for metrics, whatever client sends the
// requests.
func reviewConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter, config.Timeout = 5, 10, nil, 5*time.Second
	return config
}

// healthy returns an error if a leader has outlived its lease.
func (p *process) healthy(r *http.Request) error {
	if p.election == nil {
		return nil
	}
	return p.election.Watchdog.Check(r)
}

// ready returns an error if a leader's caches are not synced yet. Replicas that do not lead are always ready.
func (p *process) ready(*http.Request) error {
	if !p.leads.Load() {
		return nil
	}
	return p.controller.Ready()
}

// run works until ctx is done or the work cannot continue, for example because the probes cannot be served. It serves probes
// until the work has ended.
func (p *process) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := p.servers.serve(serving, stop)
	err := p.work(ctx)
	stopServing()
	return cmp.Or(err, served.Wait())
}

func (p *process) preflight(ctx context.Context) {
	bounded, stop := context.WithTimeout(ctx, preflightTimeout)
	defer stop()
	if err := controller.Preflight(bounded, p.client, p.permissions); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "It is not known whether permissions are missing")
	}
}

func (p *process) work(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	logger.Info("Starting", "version", version(), "managedBy", controller.Name)
	defer logger.Info("Stopped")
	p.preflight(ctx)
	run := func(ctx context.Context) error {
		p.leads.Store(true)
		return p.controller.Run(ctx)
	}
	if p.election == nil {
		return run(ctx)
	}
	logger.Info("Waiting for the lease", "namespace", p.election.Namespace, "name", p.election.Name, "identity", p.election.Identity)
	return leadership.Elect(ctx, *p.election, run)
}
