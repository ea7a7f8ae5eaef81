package policies

import (
	"crypto/sha256"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/lru"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime"
)

// Programs caches compiled podFailurePolicies by content, so that Jobs made from one template share a program. It is safe for
// concurrent use.
type Programs struct {
	environment *compiler.Environment
	metrics     *metrics.Metrics

	mu     sync.Mutex
	recent *lru.Cache // of compilations, by the SHA-256 of the policy in its protobuf form
}

// compilation returns the program of a policy. The first call compiles it, and concurrent calls wait for the result.
type compilation func() (*runtime.Program, error)

// NewPrograms returns a cache for at most size programs.
func NewPrograms(environment *compiler.Environment, size int, metrics *metrics.Metrics) *Programs {
	return &Programs{environment: environment, metrics: metrics, recent: lru.New(size)}
}

// Of returns the program of a policy, or nil if there is none. Rules that kube-controller-manager does not know never match,
// as in Kubernetes (compiler.StoredPolicy). Errors are cached too.
func (p *Programs) Of(policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	if policy == nil {
		return nil, nil //nolint:nilnil // no policy, no program
	}
	compiled, err := p.compilation(policy)
	if err != nil {
		return nil, err
	}
	return compiled()
}

func (p *Programs) compilation(policy *batchv1.PodFailurePolicy) (compilation, error) {
	content, err := policy.Marshal()
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(content)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, found := p.recent.Get(key); found {
		p.metrics.ProgramHits.Inc()
		return known.(compilation), nil //nolint:forcetypeassert // nothing else is stored
	}
	p.metrics.ProgramMisses.Inc()
	own := policy.DeepCopy() // the program keeps a reference
	compiled := compilation(sync.OnceValues(func() (*runtime.Program, error) { return p.compile(own) }))
	p.recent.Add(key, compiled)
	return compiled, nil
}

func (p *Programs) compile(policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	compiled, err := p.environment.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		p.metrics.CompileErrors.Inc()
		return nil, err
	}
	return runtime.NewProgram(compiled), nil
}
