package runtime_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

// twin is a custom rule that podFailurePolicy can also express.
type twin struct {
	name   string
	custom string
	native batchv1.PodFailurePolicyRule
}

func twins() []twin {
	main := "main"
	codes := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{1, 42, 137}}
	named := &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &main, Operator: "NotIn", Values: []int32{1, 2, 3}}
	return []twin{
		{
			"exit codes", "pod.failedContainers().exists(c, c.exitCode in [1, 42, 137])",
			batchv1.PodFailurePolicyRule{Action: "FailJob", OnExitCodes: codes},
		},
		{
			"exit codes of a container", "pod.failedContainers().exists(c, c.name == 'main' && !(c.exitCode in [1, 2, 3]))",
			batchv1.PodFailurePolicyRule{Action: "FailJob", OnExitCodes: named},
		},
		{
			"condition", "pod.hasCondition('DisruptionTarget')",
			batchv1.PodFailurePolicyRule{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}}},
		},
	}
}

// benchPod returns a pod with the given number of containers and a condition. The last container,
// main, failed with 137. The others exited with the given code.
func benchPod(containers int, others int32) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Status.Phase = corev1.PodFailed
	pod.Status.Conditions = []corev1.PodCondition{{Type: "PodScheduled", Status: "True"}, {Type: "DisruptionTarget", Status: "True"}}
	for i := range containers {
		s := corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: others}}}
		if i == containers-1 {
			s.Name, s.State.Terminated.ExitCode = "main", 137
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
	}
	return pod
}

// twinRuns is the number of evaluations that are timed together.
const twinRuns = 500

// BenchmarkTwins compares a custom rule with the equivalent podFailurePolicy rule. The requirement
// is at most three times its time, and no allocation. Both alternate, and only the shortest times
// count, so that other work on the machine does not affect the result.
func BenchmarkTwins(b *testing.B) {
	env := newEnvironment(b)
	for _, twin := range twins() {
		custom := runtime.Join([]*runtime.Policy{compilePolicy(b, env, rules(twin.custom))}, nil, nil)
		program := programs(b, &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{twin.native}})["specialized"]
		for _, size := range []struct {
			containers int
			others     int32
		}{{1, 0}, {3, 0}, {10, 0}, {10, 9}} {
			pod := benchPod(size.containers, size.others)
			in := runtime.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 1}
			b.Run(fmt.Sprintf("%s/containers=%d/others=%d", twin.name, size.containers, size.others), func(b *testing.B) {
				ctx := b.Context()
				if v, w := program.Evaluate(ctx, pod), custom.Judge(ctx, in); !v.Matched || !w.Matched {
					b.Fatal(v, w)
				}
				native, shortest := time.Hour, time.Hour
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					for range twinRuns {
						program.Evaluate(ctx, pod)
					}
					middle := time.Now()
					for range twinRuns {
						custom.Judge(ctx, in)
					}
					native, shortest = min(native, middle.Sub(start)), min(shortest, time.Since(middle))
				}
				b.ReportMetric(float64(native.Nanoseconds())/twinRuns, "podFailurePolicy-ns")
				b.ReportMetric(float64(shortest.Nanoseconds())/twinRuns, "custom-ns")
				b.ReportMetric(float64(shortest)/float64(native), "times")
			})
		}
	}
}

// BenchmarkExplainCustom measures explanations of a policy that explains many pods.
func BenchmarkExplainCustom(b *testing.B) {
	policy := compilePolicy(b, newEnvironment(b), rules(
		"pod.failedContainers().exists(c, c.exitCode in [1, 2] && c.name == 'other')", "attempt > 3 && pod.hasCondition('DisruptionTarget')"))
	in := runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}, Attempt: 1}
	for b.Loop() {
		if _, err := policy.Explain(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
