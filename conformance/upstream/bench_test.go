package upstream

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

// benchmark is one of the sizes, with the exit code of the benchmark's pods.
type benchmark struct {
	generators.Size
	exitCode int32 // exit code of every container
}

// benchmarks returns the sizes and failjob, which is small with its first rule deciding.
func benchmarks() []benchmark {
	var all []benchmark
	for _, size := range generators.Sizes() {
		all = append(all, benchmark{size, 255})
		if size.Name == "small" {
			all = append(all, benchmark{generators.Size{Name: "failjob", Policy: size.Policy, Rule: 0}, 3})
		}
	}
	return all
}

// pod returns a SizedPod whose containers exited with the benchmark's code.
func (bm benchmark) pod(containers int) *corev1.Pod {
	pod := generators.SizedPod(containers)
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			list[i].State.Terminated.ExitCode = bm.exitCode
		}
	}
	return pod
}

// BenchmarkMatch measures the Job controller's matcher and podverdict on the same question, including the message where
// upstream builds one. make bench prints the results with benchstat.
func BenchmarkMatch(b *testing.B) {
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range benchmarks() {
		p, err := newPanel(env, controller{}, bm.Policy, false)
		if err != nil {
			b.Fatal(err)
		}
		for _, containers := range []int{1, 3, 10} {
			pod := bm.pod(containers)
			v, agree, err := p.judge(b.Context(), pod)
			if err != nil || !agree || v.Rule != bm.Rule {
				b.Fatalf("%s: verdict %+v, error %v, engines agree: %v; want rule %d", bm.Name, v, err, agree, bm.Rule)
			}
			name := fmt.Sprintf("policy=%s/containers=%d/engine=", bm.Name, containers)
			b.Run(name+"upstream", func(b *testing.B) { benchmarkUpstream(b, bm.Policy, pod) })
			b.Run(name+"podverdict", func(b *testing.B) { benchmarkProgram(b, p.special, pod) })
		}
	}
}

func benchmarkUpstream(b *testing.B, policy *batchv1.PodFailurePolicy, pod *corev1.Pod) {
	b.ReportAllocs()
	for b.Loop() {
		release.Match(policy, pod)
	}
}

func benchmarkProgram(b *testing.B, p *runtime.Program, pod *corev1.Pod) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v := p.Evaluate(ctx, pod); v.Action == batchv1.PodFailurePolicyActionFailJob {
			_ = v.Message()
		}
	}
}

func onExitCodes(action batchv1.PodFailurePolicyAction, values ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:      action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values},
	}
}

func onConditions(action batchv1.PodFailurePolicyAction, types ...corev1.PodConditionType) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: action}
	for _, t := range types {
		r.OnPodConditions = append(r.OnPodConditions,
			batchv1.PodFailurePolicyOnPodConditionsPattern{Type: t, Status: corev1.ConditionTrue})
	}
	return r
}
