package runtime_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// TestEvaluateAllocatesNothing holds for every verdict: by the first rule, by the
// last, by none, and on a pod that has not failed.
func TestEvaluateAllocatesNothing(t *testing.T) {
	for _, s := range sizes() {
		p := program(t, compiled(t, s.policy), runtime.Options{})
		first := s.pod.DeepCopy()
		first.Status.ContainerStatuses[0].State.Terminated.ExitCode = 1
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

// TestBoundsAreWherePodsLeaveTheFastPath tells the paths apart by what they
// allocate.
func TestBoundsAreWherePodsLeaveTheFastPath(t *testing.T) {
	policy := policyOf(t, `
- {action: FailJob, onExitCodes: {operator: In, values: [42]}}
- {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}`)
	p := program(t, compiled(t, policy), runtime.Options{})
	within := failedPod()
	within.Status.ContainerStatuses = exited(compiler.MaxContainers, 1)
	within.Status.InitContainerStatuses = exited(compiler.MaxContainers, 1)
	within.Status.Conditions = conditions(compiler.MaxConditions)
	ctx := t.Context()
	allocations := func(pod *corev1.Pod) float64 {
		return testing.AllocsPerRun(2, func() {
			if v := p.Evaluate(ctx, pod); v.Err != nil || v.Matched {
				t.Fatalf("%+v", v)
			}
		})
	}
	if n := allocations(within); n != 0 {
		t.Errorf("on the bounds: %v allocations", n)
	}
	for list, longer := range map[string]func(*corev1.PodStatus){
		"containerStatuses":     func(s *corev1.PodStatus) { s.ContainerStatuses = exited(compiler.MaxContainers+1, 1) },
		"initContainerStatuses": func(s *corev1.PodStatus) { s.InitContainerStatuses = exited(compiler.MaxContainers+1, 1) },
		"conditions":            func(s *corev1.PodStatus) { s.Conditions = conditions(compiler.MaxConditions + 1) },
	} {
		pod := within.DeepCopy()
		longer(&pod.Status)
		if n := allocations(pod); n == 0 {
			t.Errorf("%s beyond the bounds: no allocations, so not interpreted", list)
		}
	}
}

// TestRulesBeyondStaticCostLeaveTheFastPath: those, and no other rule of the policy.
func TestRulesBeyondStaticCostLeaveTheFastPath(t *testing.T) {
	costly := rule(0, 10_000, 0)
	pod := sizedPod(3)
	for name, c := range map[string]struct {
		rules       []batchv1.PodFailurePolicyRule
		interpreted bool
	}{
		"reached":     {[]batchv1.PodFailurePolicyRule{costly, onDisruption()}, true},
		"not reached": {[]batchv1.PodFailurePolicyRule{onDisruption(), costly}, false},
	} {
		p := program(t, compiled(t, &batchv1.PodFailurePolicy{Rules: c.rules}), runtime.Options{})
		ctx := t.Context()
		if n := testing.AllocsPerRun(10, func() { p.Evaluate(ctx, pod) }); (n > 0) != c.interpreted {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestMessageAllocatesTwiceAtMost(t *testing.T) {
	pod := sizedPod(1)
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
