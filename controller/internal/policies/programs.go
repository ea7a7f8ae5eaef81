package policies

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime"
)

// Programs compiles and caches podFailurePolicies, and counts cache hits and misses in metrics. It is safe for concurrent
// use.
type Programs struct {
	environment *compiler.Environment
	metrics     *metrics.Metrics
	cache       runtime.PolicyCache[compilation]
}

// compilation is the program of a policy, or the error from compiling it.
type compilation struct {
	program *runtime.Program
	err     error
}

// NewPrograms returns Programs with an empty cache.
func NewPrograms(environment *compiler.Environment, metrics *metrics.Metrics) *Programs {
	return &Programs{environment: environment, metrics: metrics}
}

// Of returns the program of a policy, or nil if there is none. Rules unknown to kube-controller-manager never match, as in
// Kubernetes (compiler.StoredPolicy). Errors are cached too.
func (p *Programs) Of(policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	if policy == nil {
		return nil, nil //nolint:nilnil // no policy, no program
	}
	lookups := p.metrics.ProgramHits
	compiled, _ := p.cache.Get(policy, func(own *batchv1.PodFailurePolicy) (compilation, error) {
		lookups = p.metrics.ProgramMisses
		return p.compile(own), nil
	})
	lookups.Inc()
	return compiled.program, compiled.err
}

func (p *Programs) compile(policy *batchv1.PodFailurePolicy) compilation {
	compiled, err := p.environment.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		p.metrics.CompileErrors.Inc()
		return compilation{err: err}
	}
	return compilation{program: runtime.NewProgram(compiled)}
}
