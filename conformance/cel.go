package conformance

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// CEL returns the engine that compiles policies to CEL and evaluates it. It caches programs in bounded memory. It fails for a
// Kubernetes version that compiler.ParseVersion rejects.
func CEL() Engine {
	e := &celEngine{compilers: map[string]*versionCompiler{}}
	return e.judge
}

// InterpretedCEL returns the CEL engine without closures (runtime.Program.Interpreted).
func InterpretedCEL() Engine {
	e := &celEngine{interpreted: true, compilers: map[string]*versionCompiler{}}
	return e.judge
}

type celEngine struct {
	interpreted bool

	mu        sync.Mutex
	compilers map[string]*versionCompiler // by Kubernetes minor version, of which there are few
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
	c, err := e.compilerOf(version)
	if err != nil {
		return nil, err
	}
	return c.programs.Get(r.Policy, c.compile)
}

func (e *celEngine) compilerOf(minor string) (*versionCompiler, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.compilers[minor]; c != nil {
		return c, nil
	}
	environment, err := compiler.NewEnvironment(minor)
	if err != nil {
		return nil, err
	}
	c := &versionCompiler{environment: environment, interpreted: e.interpreted}
	e.compilers[minor] = c
	return c, nil
}

// minor returns the minor version in canonical form, so that there is one environment per minor version.
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
