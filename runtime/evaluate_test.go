package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

func TestContextDoneBeforehand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pod := podOf(t, `containerStatuses: [{name: main, state: {terminated: {exitCode: 42}}}]`)
	for path, p := range programs(t, policyOf(t, `[{action: FailJob, onExitCodes: {operator: NotIn, values: [0]}}]`)) {
		if v := p.Evaluate(ctx, pod); !isFailure(v) || !errors.Is(v.Err, context.Canceled) {
			t.Errorf("%s: %+v", path, v)
		}
		running := pod.DeepCopy()
		running.Status.Phase = corev1.PodRunning
		if v := p.Evaluate(ctx, running); !v.Equal(runtime.NotTerminal(running)) {
			t.Errorf("%s: a pod that is not terminal needs no evaluation, but has %+v", path, v)
		}
		if e, err := p.Explain(ctx, runtime.Input{Pod: pod}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, explanation %+v", path, err, e)
		}
	}
}

// doneLater is a context that is done right after Evaluate has checked it.
type doneLater struct {
	context.Context
	cancel context.CancelFunc
}

func (c doneLater) Err() error {
	err := c.Context.Err()
	c.cancel()
	return err
}

func TestContextDoneDuringEvaluation(t *testing.T) {
	pod := failedPod()
	pod.Status.ContainerStatuses = exited(compiler.MaxContainers+1, 1)
	policy := policyOf(t, `[{action: FailJob, onExitCodes: {operator: In, values: [2]}}]`)
	ctx, cancel := context.WithCancel(t.Context())
	v := programs(t, policy)["interpreted"].Evaluate(doneLater{ctx, cancel}, pod)
	if !isFailure(v) || !errors.Is(v.Err, context.Canceled) {
		t.Fatalf("%+v", v)
	}
	if !strings.HasPrefix(v.Err.Error(), "rules[0]: ") {
		t.Errorf("the error does not name the rule: %v", v.Err)
	}
}

// TestPodBeyondBounds checks that every element of a large pod is examined, also by the interpreter, whose time is linear in the
// size of the pod.
func TestPodBeyondBounds(t *testing.T) {
	policy := policyOf(t, `
- {action: Ignore, onPodConditions: [{type: T5000, status: "True"}]}
- {action: FailJob, onExitCodes: {containerName: c5000, operator: In, values: [42]}}
- {action: Count, onExitCodes: {operator: NotIn, values: [1, 42]}}`)
	ps := programs(t, policy)
	const beyond = 5001
	for name, c := range map[string]struct {
		change func(*corev1.PodStatus)
		rule   int
	}{
		"containers":      {func(s *corev1.PodStatus) { s.ContainerStatuses = exited(beyond, 42) }, 1},
		"init containers": {func(s *corev1.PodStatus) { s.InitContainerStatuses = exited(beyond, 42) }, 1},
		"conditions":      {func(s *corev1.PodStatus) { s.Conditions = conditions(beyond) }, 0},
		"all, unlisted": {func(s *corev1.PodStatus) {
			s.ContainerStatuses, s.InitContainerStatuses = exited(beyond, 1), exited(beyond, 2)
		}, 2},
		"all, none listed": {func(s *corev1.PodStatus) { s.ContainerStatuses, s.Conditions = exited(beyond, 1), conditions(5000) }, runtime.NoRule},
	} {
		pod := failedPod()
		c.change(&pod.Status)
		want := oracle(t, "", policy, pod)
		if want.Rule != c.rule {
			t.Fatalf("%s: rule %d by definition, want %d", name, want.Rule, c.rule)
		}
		for path, p := range ps {
			if got := p.Evaluate(t.Context(), pod); !got.Equal(want) {
				t.Errorf("%s, %s:\ngot  %+v\nwant %+v", name, path, got, want)
			}
		}
	}
}

// TestExplainManyElements checks that the first elements are explained, and the one that matched.
func TestExplainManyElements(t *testing.T) {
	const onExitCodes = `[{action: Ignore, onExitCodes: {operator: In, values: [42]}}]`
	last := func(list []corev1.ContainerStatus) []corev1.ContainerStatus {
		list[len(list)-1].State.Terminated.ExitCode = 42
		return list
	}
	for name, c := range map[string]struct {
		rules  string
		status corev1.PodStatus
	}{
		"conditions":      {`[{action: Ignore, onPodConditions: [{type: T99, status: "True"}]}]`, corev1.PodStatus{Conditions: conditions(100)}},
		"containers":      {onExitCodes, corev1.PodStatus{ContainerStatuses: last(exited(100, 1))}},
		"init containers": {onExitCodes, corev1.PodStatus{ContainerStatuses: exited(40, 1), InitContainerStatuses: last(exited(60, 1))}},
	} {
		pod := failedPod()
		c.status.Phase = pod.Status.Phase
		pod.Status = c.status
		e, err := programs(t, policyOf(t, c.rules))["specialized"].Explain(t.Context(), runtime.Input{Pod: pod})
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Rules[0]; len(r.Elements) != 51 || r.Omitted != 49 || !r.Elements[50].Matched {
			t.Errorf("%s: %d elements, %d omitted: %s", name, len(r.Elements), r.Omitted, r.Because)
		}
	}
}

// tooCostly returns a policy whose middle rule compares too many long names of the pod's containers. The last rule would match.
func tooCostly() (*batchv1.PodFailurePolicy, *corev1.Pod) {
	name := strings.Repeat("n", 20_000)
	middle, last := shortRule(0), onDisruption()
	middle.OnExitCodes.ContainerName = &name
	last.OnPodConditions[0].Type = "T0"
	pod := failedPod()
	pod.Status.ContainerStatuses = exited(compiler.MaxContainers+1, 255)
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Name = name
	}
	pod.Status.Conditions = conditions(1)
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{onDisruption(), middle, last}}, pod
}

// TestRuleBeyondStaticCost checks that ordinary pods get their verdict from a rule that is interpreted because it might cost too
// much on others.
func TestRuleBeyondStaticCost(t *testing.T) {
	const values = 10_000
	r := rule(0, values, 0)
	policy := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{shortRule(1), r, onDisruption()}}
	c := compiled(t, policy)
	if cost := c.Rules[1].Cost; cost <= compiler.CostLimit {
		t.Fatalf("static cost %d is within the limit", cost)
	}
	pod := generators.SizedPod(3)
	for path, p := range programs(t, policy) {
		for _, code := range []int32{-1, 0, 1, 255, values - 1, values, values + 1} {
			pod.Status.InitContainerStatuses[0].State.Terminated.ExitCode = code
			for i := range pod.Status.ContainerStatuses {
				pod.Status.ContainerStatuses[i].State.Terminated.ExitCode = values + 2
			}
			if got, want := p.Evaluate(t.Context(), pod), oracle(t, "", policy, pod); !got.Equal(want) {
				t.Errorf("%s, code %d:\ngot  %+v\nwant %+v", path, code, got, want)
			}
		}
	}
}

// TestManyRules checks that a stored policy may have more rules than the API currently accepts.
func TestManyRules(t *testing.T) {
	rules := int32(draws(10_000, 1_000))
	policy := &batchv1.PodFailurePolicy{}
	for i := range rules {
		r := shortRule(0)
		r.OnExitCodes.Values = []int32{i + 1}
		policy.Rules = append(policy.Rules, r)
	}
	slices.Reverse(policy.Rules)
	p := runtime.NewProgram(compiled(t, policy))
	for _, code := range []int32{1, rules / 2, rules, rules + 1} {
		pod := failedPod()
		pod.Status.ContainerStatuses = exited(3, code)
		got, want := p.Evaluate(t.Context(), pod), oracle(t, "", policy, pod)
		if !got.Equal(want) || code <= rules && got.Rule != int(rules-code) {
			t.Errorf("code %d:\ngot  %+v\nwant %+v", code, got, want)
		}
	}
}

// isFailure reports whether the verdict is the one for no match, with an error.
func isFailure(v runtime.Verdict) bool {
	return v.Err != nil && v.Terminal && !v.Matched && v.Counted && v.Rule == runtime.NoRule &&
		v.Action == batchv1.PodFailurePolicyActionCount && v.Message() == ""
}
