package conformance

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/internal/cache"
	"github.com/podverdict/podverdict/runtime"
)

// CEL returns the engine that compiles policies to CEL and evaluates it. It caches programs in bounded memory. It fails for a
// Kubernetes version that compiler.ParseVersion rejects.
func CEL() Engine {
	e := &celEngine{}
	return e.judge
}

// InterpretedCEL returns the CEL engine without closures (runtime.Program.Interpreted).
func InterpretedCEL() Engine {
	e := &celEngine{interpreted: true}
	return e.judge
}

type celEngine struct {
	interpreted bool
	compilers   cache.Cache[*versionCompiler] // by Kubernetes version
}

// versionCompiler compiles policies for one Kubernetes version.
type versionCompiler struct {
	environment *compiler.Environment
	interpreted bool
	programs    runtime.PolicyCache[*runtime.Program]
}

func (e *celEngine) judge(ctx context.Context, r Request) (runtime.Verdict, error) {
	program, err := e.program(r)
	if err != nil {
		return runtime.Verdict{}, err
	}
	pod := r.Pod
	if pod.Status.Phase == "" {
		failed := *pod
		failed.Status.Phase = corev1.PodFailed
		pod = &failed
	}
	return program.Evaluate(ctx, pod), nil
}

func (e *celEngine) program(r Request) (*runtime.Program, error) {
	version, err := minor(r.Kubernetes)
	if err != nil {
		return nil, err
	}
	c, err := e.compilers.Get([]byte(version), func() (*versionCompiler, error) {
		environment, err := compiler.NewEnvironment(version)
		return &versionCompiler{environment: environment, interpreted: e.interpreted}, err
	})
	if err != nil {
		return nil, err
	}
	return c.programs.Get(r.Policy, c.compile)
}

// minor returns the minor version in one spelling, so that there are only as many environments as minors.
func minor(kubernetes string) (string, error) {
	if kubernetes == "" || kubernetes == compiler.DefaultVersion {
		return compiler.DefaultVersion, nil
	}
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func (c *versionCompiler) compile(policy *batchv1.PodFailurePolicy) (*runtime.Program, error) {
	compiled, err := c.environment.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		return nil, err
	}
	program := runtime.NewProgram(compiled)
	if c.interpreted {
		program = program.Interpreted()
	}
	return program, nil
}
