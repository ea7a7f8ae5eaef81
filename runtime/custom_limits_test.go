package runtime_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// ends reports whether an error reports an exceeded cost limit.
func ends(err error) bool {
	var failed *runtime.EvaluationError
	return errors.As(err, &failed) && failed.Cause() == runtime.CauseCost
}

// TestBudget checks that the rules of a policy stop together on pods larger than the bounds, although each costs less than one
// expression may.
func TestBudget(t *testing.T) {
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = fmt.Sprintf("pod.containers().exists(c, c.name.contains('%d'))", i)
	}
	policy := compilePolicy(t, newEnvironment(t), rules(texts...)).Interpreted()
	pod := exitCode(1)
	pod.Status.ContainerStatuses[0].Name = strings.Repeat("x", 4096) // longer than any name
	for range 700 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	_, err := policy.Evaluate(t.Context(), runtime.Input{Pod: pod})
	if err == nil || !strings.Contains(err.Error(), "together") {
		t.Errorf("got %v", err)
	}
}

// TestCustomRulesAllocateNothing covers the fast path, after a Job's own rules, whether a rule decides or not. Variables, and
// errors that do not affect the result, do not allocate either.
func TestCustomRulesAllocateNothing(t *testing.T) {
	env := newEnvironment(t)
	spec := rules(
		"variables.oom && attempt > 100", "pod.containers().filter(c, c.restarts > 100).size() > 0", "pod.condition('DisruptionTarget').status == 'True'",
		"pod.status.?reason.orValue('') == 'Evicted'", "pod.metadata.?labels[?'team'].orValue('') == 'x'", "has(job.spec.completions)",
		"'ImagePullBackOff' in pod.waitingReasons()", "pod.status.reason == 'x' && attempt > 100", "pod.failedContainers()[0].signalName == 'SIGHUP'",
		"pod.containers().exists(c, pod.containers().exists(d, c.name == d.name && attempt > 100)) && false",
		"pod.failedContainers().exists(c, c.message.matches('nothing (like|as) this'))",
		"node.unreachable() || node.hasTaint('x') || node.label('pool') == 'spot' || node.spec.unschedulable.orValue(false)", "variables.oom",
	)
	spec.Variables = []v1alpha1.Variable{{Name: "oom", Expression: "pod.failedContainers().exists(c, c.oomKilled)"}}
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "a", Expression: "job.metadata.?labels[?'team'].orValue('') == ''"}}
	policy := compilePolicy(t, env, spec)
	own := runtime.NewProgram(compiled(t, policyOf(t, `[{action: FailJob, onExitCodes: {operator: In, values: [42]}}]`)))
	program := runtime.Join(nil, own, []*runtime.Policy{policy})
	ctx, node := t.Context(), &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "y"}}}}
	for rule, pod := range map[string]*corev1.Pod{
		"r12": failed(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}), "": exitCode(1),
	} {
		in := runtime.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 1, Node: node}
		var v runtime.Verdict
		n := testing.AllocsPerRun(200, func() {
			if applies, _ := policy.Applies(ctx, in.Job); applies {
				v = program.Judge(ctx, in)
			}
		})
		if v.RuleName != rule || !v.Terminal || v.Err != nil {
			t.Errorf("%+v, want rule %q", v, rule)
		}
		if n > forgotten() {
			t.Errorf("rule %q: %v allocations", rule, n)
		}
	}
}
