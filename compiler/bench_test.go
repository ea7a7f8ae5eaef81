package compiler_test

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

// smallPolicy returns the first of the sizes.
func smallPolicy() *batchv1.PodFailurePolicy { return generators.Sizes()[0].Policy }

// BenchmarkCompile measures compiling a policy to a program. After the first round the types of
// common shapes are cached, as in a controller that has already seen a policy of this form.
func BenchmarkCompile(b *testing.B) {
	env := newEnvironment(b)
	for _, bench := range generators.Sizes() {
		b.Run(bench.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compilePolicy(b, env, bench.Policy)
			}
			b.ReportMetric(float64(characters(b, env, bench.Policy)), "characters")
		})
	}
}

// BenchmarkCompileFirst is BenchmarkCompile with a new environment.
func BenchmarkCompileFirst(b *testing.B) {
	for _, bench := range generators.Sizes() {
		b.Run(bench.Name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				env := newEnvironment(b)
				b.StartTimer()
				compilePolicy(b, env, bench.Policy)
			}
		})
	}
}

func compilePolicy(b *testing.B, env *compiler.Environment, p *batchv1.PodFailurePolicy) *runtime.Program {
	b.Helper()
	policy, err := compiler.NewPolicy(p)
	if err != nil {
		b.Fatal(err)
	}
	compiled, err := env.Compile(policy)
	if err != nil {
		b.Fatal(err)
	}
	return runtime.NewProgram(compiled)
}

func texts(b *testing.B, env *compiler.Environment, p *batchv1.PodFailurePolicy) []string {
	b.Helper()
	compiled, err := env.Compile(compiler.StoredPolicy(p))
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	for _, r := range compiled.Rules {
		text, err := r.Source()
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

func characters(b *testing.B, env *compiler.Environment, p *batchv1.PodFailurePolicy) int {
	b.Helper()
	return len(strings.Join(texts(b, env, p), ""))
}

// BenchmarkParse measures what compiling would take if expressions were generated as text: parsing,
// and parsing with checking.
func BenchmarkParse(b *testing.B) {
	env := newEnvironment(b)
	for _, bench := range generators.Sizes() {
		rules := texts(b, env, bench.Policy)
		b.Run(bench.Name+"/parse", func(b *testing.B) {
			for b.Loop() {
				for _, text := range rules {
					if _, issues := env.FailedRules.Parse(text); issues.Err() != nil {
						b.Fatal(issues.Err())
					}
				}
			}
		})
		b.Run(bench.Name+"/compile", func(b *testing.B) {
			for b.Loop() {
				for _, text := range rules {
					if _, issues := env.FailedRules.Compile(text); issues.Err() != nil {
						b.Fatal(issues.Err())
					}
				}
			}
		})
	}
}

// BenchmarkHold measures the memory of 10,000 distinct small policies that are ready for
// evaluation.
func BenchmarkHold(b *testing.B) {
	const n = 10_000
	env := newEnvironment(b)
	compilePolicy(b, env, smallPolicy())
	var held float64
	for b.Loop() {
		programs := make([]*runtime.Program, n)
		before := heap()
		for i := range programs {
			p := smallPolicy()
			p.Rules[0].OnExitCodes.Values[2] = int32(i + 3)
			p.Rules[1].OnPodConditions[0].Type = corev1.PodConditionType(fmt.Sprintf("example.com/T%d", i))
			programs[i] = compilePolicy(b, env, p)
		}
		held = float64(heap() - before)
		goruntime.KeepAlive(programs)
	}
	b.ReportMetric(held/n, "B/policy")
	b.ReportMetric(held/(1<<20), "MiB")
}

// heap returns the memory in use after a garbage collection.
func heap() int64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
