package conformance

import (
	"context"
	"encoding/binary"
	"sync"

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
	interpreted  bool
	environments cache.Cache[*compiler.Environment] // by Kubernetes version
	programs     cache.Cache[*runtime.Program]      // by policyKey
	keys         sync.Pool                          // of *[]byte
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
	var err error
	if r.Kubernetes, err = minor(r.Kubernetes); err != nil {
		return nil, err
	}
	key, _ := e.keys.Get().(*[]byte)
	if key == nil {
		key = new([]byte)
	}
	defer e.keys.Put(key)
	*key = appendPolicyKey(append((*key)[:0], r.Kubernetes...), r.Policy)
	return e.programs.Get(*key, func() (*runtime.Program, error) { return e.compile(r) })
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

func (e *celEngine) compile(r Request) (*runtime.Program, error) {
	environment, err := e.environments.Get([]byte(r.Kubernetes), func() (*compiler.Environment, error) {
		return compiler.NewEnvironment(r.Kubernetes)
	})
	if err != nil {
		return nil, err
	}
	// The cached program outlives the request, so it needs its own copy of the policy.
	compiled, err := environment.Compile(compiler.StoredPolicy(r.Policy.DeepCopy()))
	if err != nil {
		return nil, err
	}
	program := runtime.NewProgram(compiled)
	if e.interpreted {
		program = program.Interpreted()
	}
	return program, nil
}

// appendPolicyKey appends a key that is equal for two policies exactly if they are equal; nil equals a policy without rules.
// Every string and list is preceded by its length.
func appendPolicyKey(key []byte, p *batchv1.PodFailurePolicy) []byte {
	for _, r := range rules(p) {
		key = appendString(append(key, 'r'), string(r.Action))
		if on := r.OnExitCodes; on != nil {
			key = appendString(append(key, 'e'), string(on.Operator))
			if on.ContainerName != nil {
				key = appendString(append(key, 'n'), *on.ContainerName)
			}
			key = binary.AppendUvarint(append(key, 'v'), uint64(len(on.Values)))
			for _, v := range on.Values {
				key = binary.AppendVarint(key, int64(v))
			}
		}
		for _, c := range r.OnPodConditions {
			key = appendString(append(key, 'c'), string(c.Type))
			key = appendString(key, string(c.Status))
		}
	}
	return key
}

func appendString(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}
