package runtime_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/internal/testing/race"
	"github.com/podverdict/podverdict/runtime"
)

// TestEvaluateAllocatesNothing covers every verdict: by the first rule, by the last, by none, and on a pod that has not
// failed.
func TestEvaluateAllocatesNothing(t *testing.T) {
	for _, s := range sizes() {
		p := runtime.NewProgram(compiled(t, s.policy))
		first := s.pod.DeepCopy()
		satisfy(s.policy.Rules[0].OnExitCodes, &first.Status.ContainerStatuses[0])
		none := s.pod.DeepCopy()
		none.Status.Conditions = conditions(6)
		running := s.pod.DeepCopy()
		running.Status.Phase = corev1.PodRunning
		for name, c := range map[string]struct {
			pod  *corev1.Pod
			rule int
		}{
			"first rule": {first, 0}, "last rule": {s.pod, s.rule},
			"no rule": {none, runtime.NoRule}, "not terminal": {running, runtime.NoRule},
		} {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				var v runtime.Verdict
				ctx := t.Context()
				if n := testing.AllocsPerRun(100, func() { v = p.Evaluate(ctx, c.pod) }); n != 0 {
					t.Errorf("%v allocations", n)
				}
				if v.Rule != c.rule {
					t.Errorf("rule %d decided, want %d", v.Rule, c.rule)
				}
			})
		}
	}
}

// satisfy changes a container so that it meets a requirement.
func satisfy(on *batchv1.PodFailurePolicyOnExitCodesRequirement, c *corev1.ContainerStatus) {
	if on.ContainerName != nil {
		c.Name = *on.ContainerName
	}
	c.State.Terminated.ExitCode = 1000 // in no list
	if on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
		c.State.Terminated.ExitCode = on.Values[0]
	}
}

// TestNothingCanonicalIsInterpreted distinguishes the paths by their allocations: neither a pod beyond the bounds of the
// static cost nor a rule above the cost limit is evaluated by the interpreter.
func TestNothingCanonicalIsInterpreted(t *testing.T) {
	policy := policyOf(t, `
- {action: FailJob, onExitCodes: {operator: In, values: [42]}}
- {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}`)
	policy.Rules = append(policy.Rules, rule(0, 10_000, 0))
	pod := failedPod()
	pod.Status.ContainerStatuses = exited(compiler.MaxContainers+1, -1)
	pod.Status.InitContainerStatuses = exited(compiler.MaxContainers+1, -1)
	pod.Status.Conditions = conditions(compiler.MaxConditions + 1)
	ctx := t.Context()
	for path, p := range programs(t, policy) {
		n := testing.AllocsPerRun(1, func() {
			if v := p.Evaluate(ctx, pod); v.Err != nil || v.Matched {
				t.Fatalf("%+v", v)
			}
		})
		if (n == 0) != (path == "specialized") {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func TestMessageAllocatesTwiceAtMost(t *testing.T) {
	pod := generators.SizedPod(1)
	code, condition := &pod.Status.ContainerStatuses[0], &pod.Status.Conditions[0]
	for name, v := range map[string]runtime.Verdict{
		"exit code": runtime.MatchedExitCode(pod, 19, batchv1.PodFailurePolicyActionFailJob, code),
		"condition": runtime.MatchedCondition(pod, 19, batchv1.PodFailurePolicyActionFailIndex, condition),
	} {
		var message string
		if n := testing.AllocsPerRun(100, func() { message = v.Message() }); n > 2 || message == "" {
			t.Errorf("%s: %v allocations for %q", name, n, message)
		}
	}
}

// forgotten returns the number of allocations that an evaluation may make. With the race detector, a sync.Pool randomly drops
// items.
func forgotten() float64 {
	if race.Enabled {
		return 2
	}
	return 0
}
