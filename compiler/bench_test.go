package compiler_test

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

func exitCodes(action batchv1.PodFailurePolicyAction, container string, codes ...int32) batchv1.PodFailurePolicyRule {
	on := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: codes}
	if container != "" {
		on.ContainerName = &container
	}
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: on}
}

func conditions(action batchv1.PodFailurePolicyAction, types ...string) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: action}
	for _, typ := range types {
		r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type: corev1.PodConditionType(typ), Status: corev1.ConditionTrue,
		})
	}
	return r
}

func smallPolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		exitCodes("FailJob", "main", 1, 2, 3), conditions("Ignore", "DisruptionTarget"),
	}}
}

func mediumPolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		conditions("Ignore", "DisruptionTarget"), exitCodes("FailJob", "main", 1, 2, 3), exitCodes("Ignore", "main", 75),
		exitCodes("Count", "side", 4, 5), exitCodes("FailIndex", "", 42), conditions("FailJob", "ConfigIssue", "example.com/Gpu"),
		exitCodes("Count", "", 137, 143), exitCodes("FailJob", "", 255),
	}}
}

// alternating is 20 rules: of 255 exit codes, and of 20 condition types.
func alternating(typ func(rule, i int) string) *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for rule := 0; rule < 20; rule += 2 {
		codes := make([]int32, 255)
		for i := range codes {
			codes[i] = int32(rule*1000 + i + 1)
		}
		p.Rules = append(p.Rules, exitCodes("FailJob", "main", codes...), conditions("Ignore", typesOf(rule, typ)...))
	}
	return p
}

func typesOf(rule int, typ func(rule, i int) string) []string {
	types := make([]string, 20)
	for i := range types {
		types[i] = typ(rule, i)
	}
	return types
}

func worstPolicy() *batchv1.PodFailurePolicy {
	return alternating(func(rule, i int) string { return fmt.Sprintf("example.com/condition-%d-%d", rule, i) })
}

// longType has the most characters that a condition type can have, 317.
func longType(rule, i int) string {
	host := strings.Join([]string{strings.Repeat("a", 63), strings.Repeat("b", 63), strings.Repeat("c", 63), strings.Repeat("d", 61)}, ".")
	return fmt.Sprintf("%s/%063d", host, rule*20+i)
}

// largestPolicy is the legal policy of the longest text.
func largestPolicy() *batchv1.PodFailurePolicy {
	p := &batchv1.PodFailurePolicy{}
	for rule := range 20 {
		p.Rules = append(p.Rules, conditions("Ignore", typesOf(rule, longType)...))
	}
	return p
}

var benchmarkedPolicies = []struct {
	name   string
	policy *batchv1.PodFailurePolicy
}{
	{"small", smallPolicy()}, {"medium", mediumPolicy()}, {"worst", worstPolicy()}, {"largest", largestPolicy()},
}

// BenchmarkCompile is the way from a policy to a program. After the first round,
// the types of common shapes are known, as in a controller that has seen a policy
// of this form before.
func BenchmarkCompile(b *testing.B) {
	env := newEnvironment(b, compiler.DefaultVersion)
	for _, bench := range benchmarkedPolicies {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compilePolicy(b, env, bench.policy)
			}
			b.ReportMetric(float64(characters(b, env, bench.policy)), "characters")
		})
	}
}

// BenchmarkCompileFirst is BenchmarkCompile with an environment that has seen
// nothing yet.
func BenchmarkCompileFirst(b *testing.B) {
	for _, bench := range benchmarkedPolicies {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				env := newEnvironment(b, compiler.DefaultVersion)
				b.StartTimer()
				compilePolicy(b, env, bench.policy)
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
	program, err := runtime.NewProgram(compiled, runtime.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return program
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

// BenchmarkParse is what compiling would take if expressions were written as text:
// parsing alone, and parsing and checking.
func BenchmarkParse(b *testing.B) {
	env := newEnvironment(b, compiler.DefaultVersion)
	for _, bench := range benchmarkedPolicies {
		rules := texts(b, env, bench.policy)
		b.Run(bench.name+"/parse", func(b *testing.B) {
			for b.Loop() {
				for _, text := range rules {
					if _, issues := env.CEL.Parse(text); issues.Err() != nil {
						b.Fatal(issues.Err())
					}
				}
			}
		})
		b.Run(bench.name+"/compile", func(b *testing.B) {
			for b.Loop() {
				for _, text := range rules {
					if _, issues := env.CEL.Compile(text); issues.Err() != nil {
						b.Fatal(issues.Err())
					}
				}
			}
		})
	}
}

// BenchmarkLint is a legal Job whose rules tell the most failures apart: 20 NotIn
// lists without a code in common, and ten containers.
func BenchmarkLint(b *testing.B) {
	job := &batchv1.Job{}
	for i := range 10 {
		job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i)})
	}
	policy := &batchv1.PodFailurePolicy{}
	actions := []batchv1.PodFailurePolicyAction{"FailJob", "Ignore"}
	for rule := range 20 {
		codes := make([]int32, 255)
		for i := range codes {
			codes[i] = int32(rule*255 + i + 1)
		}
		container := ""
		if rule < 10 {
			container = job.Spec.Template.Spec.Containers[rule].Name
		}
		r := exitCodes(actions[rule%2], container, codes...)
		r.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
		policy.Rules = append(policy.Rules, r)
	}
	job.Spec.PodFailurePolicy = policy
	for b.Loop() {
		if len(compiler.Lint(job)) == 0 {
			b.Fatal("no findings")
		}
	}
}

// BenchmarkHold is the memory of 10,000 distinct small policies that are ready to
// be evaluated.
func BenchmarkHold(b *testing.B) {
	const n = 10_000
	env := newEnvironment(b, compiler.DefaultVersion)
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

// heap is what is in use after a collection.
func heap() int64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
