package custom_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

func TestExplain(t *testing.T) {
	spec := rules(
		"variables.oom && attempt > 3",
		"pod.failedContainers().exists(c, c.exitCode in [1, 2] || (c.signalName == 'SIGKILL' && c.name != 'main')) || pod.hasCondition('DisruptionTarget')",
		"pod.status.reason == 'Evicted'",
		"pod.waitingReasons() == ['x'] && pod.pendingFor(pod.metadata.creationTimestamp) < duration('1m') && !(pod.status.?reason != optional.of('x'))",
	)
	spec.Variables = []v1alpha1.Variable{{Name: "oom", Expression: "pod.failedContainers().exists(c, c.oomKilled)"}}
	spec.Rules = append(spec.Rules, v1alpha1.Rule{Name: "waits", Phase: corev1.PodPending, When: "pod.unschedulable()"})
	policy := compile(t, newEnvironment(t), spec)
	pod := failed(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, failed(corev1.ContainerStateTerminated{ExitCode: 2}).Status.ContainerStatuses[0])
	pod.Status.ContainerStatuses[1].Name = "helper"
	explained, err := policy.Explain(t.Context(), custom.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `
rule 0 holds: false, error: <nil>
  variables.oom = true
  pod.failedContainers().exists(c, c.oomKilled) = true
  attempt = 2
  attempt > 3 = false
  decisive: attempt > 3 = false
  container main of pod.failedContainers(), exit code 137: true
    c.oomKilled = true
  container helper of pod.failedContainers(), exit code 2: false
    c.oomKilled = false
rule 1 holds: true, error: <nil>
  pod.failedContainers().exists(c, c.exitCode in [1, 2] || c.signalName == 'SIGKILL' && c.name != 'main') = true
  pod.hasCondition('DisruptionTarget') = false
  container main of pod.failedContainers(), exit code 137: false
    c.exitCode = 137
    c.exitCode in [1, 2] = false
    c.signalName = "SIGKILL"
    c.signalName == 'SIGKILL' = true
    c.name = "main"
    c.name != 'main' = false
  container helper of pod.failedContainers(), exit code 2: true
    c.exitCode = 2
    c.exitCode in [1, 2] = true
    c.signalName = ""
    c.signalName == 'SIGKILL' = false
    c.name = "helper"
    c.name != 'main' = true
rule 2 holds: false, error: spec.rules[2].when: no such key: reason
  pod.status.reason = error: no such key: reason
  pod.status.reason == 'Evicted' = error: no such key: reason
rule 3 holds: false, error: <nil>
  pod.waitingReasons() = []
  pod.waitingReasons() == ['x'] = false
  pod.pendingFor(pod.metadata.creationTimestamp) = error: no such key: creationTimestamp
  pod.pendingFor(pod.metadata.creationTimestamp) < duration('1m') = error: no such key: creationTimestamp
  pod.status.?reason = optional.none()
  pod.status.?reason != optional.of('x') = true
  decisive: pod.waitingReasons() == ['x'] = false
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), printed(explained)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExplanationsDoNotMix has several goroutines explain pods by the same policies.
func TestExplanationsDoNotMix(t *testing.T) {
	spec := rules("variables.bad.exists(c, c.exitCode == attempt) || variables.bad.size() > 2", "variables.bad.all(c, c.exitCode > attempt)")
	spec.Variables = []v1alpha1.Variable{{Name: "bad", Expression: "pod.failedContainers().filter(c, c.exitCode != 7)"}}
	policy := compile(t, newEnvironment(t), spec)
	explain := func(code int32) string {
		pod := failed(corev1.ContainerStateTerminated{ExitCode: code})
		explained, err := policy.Explain(t.Context(), custom.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 3})
		if err != nil {
			t.Error(err)
		}
		return printed(explained)
	}
	var want [10]string
	for code := range want {
		want[code] = explain(int32(code))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 100 {
				if code := i % len(want); explain(int32(code)) != want[code] {
					t.Errorf("exit code %d: not what it was alone", code)
				}
			}
		})
	}
	wg.Wait()
}

func printed(all []custom.Explanation) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "rule %d holds: %t, error: %v\n", e.Rule, e.Holds, e.Err)
		for _, v := range e.Values {
			fmt.Fprintf(&b, "  %s = %s\n", v.Expression, v.Value)
		}
		for _, v := range e.Decisive {
			fmt.Fprintf(&b, "  decisive: %s = %s\n", v.Expression, v.Value)
		}
		for _, element := range e.Elements {
			fmt.Fprintf(&b, "  %s %s of %s, %s: %t\n", element.Kind, element.Name, element.List, element.Observed, element.Matched)
			for _, v := range element.Values {
				fmt.Fprintf(&b, "    %s = %s\n", v.Expression, v.Value)
			}
		}
	}
	return b.String()
}

// TestExplainDecides: what makes an expression false, however its parts are joined, and each variable once.
func TestExplainDecides(t *testing.T) {
	spec := rules(
		"(attempt > 3 || attempt == 2) && !(pod.metadata.name == 'p' && variables.all)",
		"(attempt > 5 || !variables.list) && attempt > 4",
		"variables.list ? false : true",
		"variables.size > 1 || variables.codes.size() > 2 && variables.list",
	)
	spec.Variables = []v1alpha1.Variable{
		{Name: "codes", Expression: "pod.failedContainers().map(c, c.exitCode)"},
		{Name: "size", Expression: "variables.codes.size()"},
		{Name: "list", Expression: "variables.size == 1 && variables.codes[0] == 1"},
		{Name: "all", Expression: "variables.list && variables.list && attempt > 0"},
	}
	pod := exitCode(1)
	pod.Name = "p"
	explained, err := compile(t, newEnvironment(t), spec).Explain(t.Context(), custom.Input{Pod: pod, Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `
rule 0 holds: false, error: <nil>
  attempt = 2
  attempt > 3 = false
  attempt == 2 = true
  pod.metadata.name = "p"
  pod.metadata.name == 'p' = true
  variables.all = true
  variables.list = true
  variables.size = 1
  variables.size == 1 = true
  variables.codes.size() = 1
  variables.codes = [1]
  variables.codes[0] = 1
  variables.codes[0] == 1 = true
  attempt > 0 = true
  decisive: pod.metadata.name == 'p' = true
  decisive: variables.all = true
rule 1 holds: false, error: <nil>
  attempt = 2
  attempt > 5 = false
  variables.list = true
  variables.size = 1
  variables.size == 1 = true
  variables.codes.size() = 1
  variables.codes = [1]
  variables.codes[0] = 1
  variables.codes[0] == 1 = true
  attempt > 4 = false
  decisive: attempt > 5 = false
  decisive: variables.list = true
rule 2 holds: false, error: <nil>
  variables.list = true
  variables.size = 1
  variables.size == 1 = true
  variables.codes.size() = 1
  variables.codes = [1]
  variables.codes[0] = 1
  variables.codes[0] == 1 = true
  decisive: variables.list ? false : true = false
rule 3 holds: false, error: <nil>
  variables.size = 1
  variables.size > 1 = false
  variables.codes.size() = 1
  variables.codes = [1]
  variables.codes.size() > 2 = false
  variables.list = true
  variables.size == 1 = true
  variables.codes[0] = 1
  variables.codes[0] == 1 = true
  decisive: variables.size > 1 = false
  decisive: variables.codes.size() > 2 = false
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), printed(explained)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExpressions: every expression with its type and cost, which add up.
func TestExpressions(t *testing.T) {
	spec := rules("variables.codes.size() > 1", "true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "has(job.spec.suspend)"}}
	spec.Variables = []v1alpha1.Variable{{Name: "codes", Expression: "pod.failedContainers().map(c, c.exitCode)"}}
	spec.Rules[0].MessageExpression = "'so ' + 'it is'"
	policy := compile(t, newEnvironment(t), spec)
	var got []string
	total := uint64(0)
	for _, x := range policy.Expressions() {
		got = append(got, x.Field+" "+x.Type+": "+x.Text)
		total += x.Cost
	}
	want := []string{
		"spec.matchConditions[0].expression bool: has(job.spec.suspend)",
		"spec.variables[0].expression list(int): pod.failedContainers().map(c, c.exitCode)",
		"spec.rules[0].when bool: variables.codes.size() > 1",
		"spec.rules[0].messageExpression string: 'so ' + 'it is'",
		"spec.rules[1].when bool: true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if total != policy.Cost {
		t.Errorf("costs are %d, together %d", total, policy.Cost)
	}
}

func TestAlways(t *testing.T) {
	pending := rules("pod.metadata.name == 'x'", "true")
	pending.Rules[1].Phase = corev1.PodPending
	for _, c := range []struct {
		spec *v1alpha1.PodFailurePolicySpec
		want int
	}{
		{rules("attempt > 2", "true"), 1},
		{rules("true", "true"), 0},
		{rules("attempt > 2"), custom.NoRule},
		{pending, custom.NoRule},
	} {
		if got := compile(t, newEnvironment(t), c.spec).Always(); got != c.want {
			t.Errorf("%v: rule %d always matches, want %d", c.spec.Rules, got, c.want)
		}
	}
}

func TestExplainIsBounded(t *testing.T) {
	policy := compile(t, newEnvironment(t), rules("pod.failedContainers().exists(c, c.exitCode == 9)"))
	pod := exitCode(1)
	for range 59 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	explained, err := policy.Explain(t.Context(), custom.Input{Pod: pod})
	if err != nil || len(explained) != 1 || len(explained[0].Elements) != 50 || explained[0].Omitted != 10 || explained[0].Cost == 0 {
		t.Errorf("got %v, %v", explained, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := policy.Explain(ctx, custom.Input{Pod: pod}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for range 150_000 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	if explained, err = policy.Explain(t.Context(), custom.Input{Pod: pod}); err != nil || explained[0].Err == nil {
		t.Errorf("got %v, %v", explained, err)
	}
}

func TestTypeChecking(t *testing.T) {
	env := newEnvironment(t)
	if got := custom.TypeChecking(nil); got != nil {
		t.Errorf("nothing to say is %v", got)
	}
	spec := rules("pod.status.reason == 'x'", "pod.fase == 'x'")
	got := custom.TypeChecking(findingsOf(t, env, spec))
	want := &v1alpha1.TypeChecking{Findings: []v1alpha1.Finding{
		{Rule: "r1", Field: "spec.rules[1].when", Message: "1:5: error: Pod has no field \"fase\" (type)\n | pod.fase == 'x'\n | ....^\n   there are apiVersion, kind, metadata, spec, status"},
		{Rule: "r0", Field: "spec.rules[0].when", Message: "1:12: warning: pod.status.reason may be absent, which is an error here (unguarded-field)\n | pod.status.reason == 'x'\n | ...........^\n   write pod.status.?reason.orValue(''), or ask has(pod.status.reason) first"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := rules()
	for i := range 60 {
		many.Rules = append(many.Rules, v1alpha1.Rule{
			Name: fmt.Sprint("r", i), When: "pod.fase == '" + strings.Repeat("x", 4000) + "' && pod.fase == 'y'", MessageExpression: "pod.fase",
		})
	}
	got = custom.TypeChecking(findingsOf(t, env, many))
	if len(got.Findings) != 100 || !strings.HasSuffix(got.Findings[99].Message, "and 80 more findings, in all fields") {
		t.Errorf("%d findings, the last is %s", len(got.Findings), got.Findings[len(got.Findings)-1].Message)
	}
	policy := &v1alpha1.PodFailurePolicy{Status: v1alpha1.PodFailurePolicyStatus{TypeChecking: got}}
	for _, f := range policy.Status.TypeChecking.Findings {
		if len([]rune(f.Message)) > 2048 {
			t.Errorf("a message of %d characters", len([]rune(f.Message)))
		}
	}
}
