package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
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
	policy := compilePolicy(t, newEnvironment(t), spec)
	pod := failed(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, failed(corev1.ContainerStateTerminated{ExitCode: 2}).Status.ContainerStatuses[0])
	pod.Status.ContainerStatuses[1].Name = "helper"
	explained, err := policy.Explain(t.Context(), runtime.Input{Pod: pod, Job: &batchv1.Job{}, Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `
rule 0 holds: false, error: ""
  variables.oom = true
  pod.failedContainers().exists(c, c.oomKilled) = true
  attempt = 2
  attempt > 3 = false
  because: attempt > 3 is false
  container main, exit code 137: true
    c.oomKilled = true
  container helper, exit code 2: false
    c.oomKilled = false
rule 1 holds: true, error: ""
  pod.failedContainers().exists(c, c.exitCode in [1, 2] || c.signalName == 'SIGKILL' && c.name != 'main') = true
  pod.hasCondition('DisruptionTarget') = false
  because: the expression is true
  container main, exit code 137: false
    c.exitCode = 137
    c.exitCode in [1, 2] = false
    c.signalName = "SIGKILL"
    c.signalName == 'SIGKILL' = true
    c.name = "main"
    c.name != 'main' = false
  container helper, exit code 2: true
    c.exitCode = 2
    c.exitCode in [1, 2] = true
    c.signalName = ""
    c.signalName == 'SIGKILL' = false
    c.name = "helper"
    c.name != 'main' = true
rule 2 holds: false, error: "PodFailurePolicy : spec.rules[2].when: no such key: reason"
  pod.status.reason = error: no such key: reason
  pod.status.reason == 'Evicted' = error: no such key: reason
  because: the expression could not be evaluated
rule 3 holds: false, error: ""
  pod.waitingReasons() = []
  pod.waitingReasons() == ['x'] = false
  pod.pendingFor(pod.metadata.creationTimestamp) = error: no such key: creationTimestamp
  pod.pendingFor(pod.metadata.creationTimestamp) < duration('1m') = error: no such key: creationTimestamp
  pod.status.?reason = optional.none()
  pod.status.?reason != optional.of('x') = true
  because: pod.waitingReasons() == ['x'] is false
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), printed(explained)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func printed(all []runtime.RuleExplanation) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "rule %d holds: %t, error: %q\n", e.Rule, e.Holds, e.Error)
		for _, v := range e.Values {
			fmt.Fprintf(&b, "  %s = %s\n", v.Expression, v.Value)
		}
		fmt.Fprintf(&b, "  because: %s\n", e.Because)
		for _, element := range e.Elements {
			fmt.Fprintf(&b, "  %s %s, %s: %t\n", element.Kind, element.Name, element.Observed, element.Matched)
			for _, v := range element.Values {
				fmt.Fprintf(&b, "    %s = %s\n", v.Expression, v.Value)
			}
		}
	}
	return b.String()
}

// TestExplainDecides checks that the parts that make an expression false are explained, regardless of how
// they are joined, and each variable once.
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
	explained, err := compilePolicy(t, newEnvironment(t), spec).Explain(t.Context(), runtime.Input{Pod: pod, Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pod.metadata.name == 'p' is true, and variables.all is true",
		"attempt > 5 is false, and variables.list is true",
		"variables.list ? false : true is false",
		"variables.size > 1 is false, and variables.codes.size() > 2 is false",
	}
	var got []string
	for _, rule := range explained {
		got = append(got, rule.Because)
		seen := map[string]bool{}
		for _, v := range rule.Values {
			if seen[v.Expression] {
				t.Errorf("rule %d shows %s twice", rule.Rule, v.Expression)
			}
			seen[v.Expression] = true
		}
		if !seen["variables.list"] || !seen["variables.codes[0] == 1"] {
			t.Errorf("rule %d does not show what its variables are made of: %v", rule.Rule, rule.Values)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExplainIsBounded(t *testing.T) {
	policy := compilePolicy(t, newEnvironment(t), rules("pod.failedContainers().exists(c, c.exitCode == 9)"))
	pod := exitCode(1)
	for range 59 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	explained, err := policy.Explain(t.Context(), runtime.Input{Pod: pod})
	if err != nil || len(explained) != 1 || len(explained[0].Elements) != 50 || explained[0].Omitted != 10 || explained[0].Cost == 0 {
		t.Errorf("got %v, %v", explained, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := policy.Explain(ctx, runtime.Input{Pod: pod}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for range 150_000 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	if explained, err = policy.Explain(t.Context(), runtime.Input{Pod: pod}); err != nil || explained[0].Error == "" {
		t.Errorf("got %v, %v", explained, err)
	}
}

// TestShownValues checks that values are shown in a form that can be written in an expression.
func TestShownValues(t *testing.T) {
	for expression, want := range map[string]string{
		"double('NaN')":                          "double('NaN')",
		"-double('inf')":                         "double('-Inf')",
		"double('2')":                            "2.0",
		"duration('5400s')":                      "duration('1h30m0s')",
		"timestamp('2026-01-01T01:00:00+01:00')": "timestamp('2026-01-01T01:00:00+01:00')",
		"[1, 2, 3, 4].map(x, x * x)":             "[1, 4, 9, 16]",
		"optional.of('a')":                       `optional.of("a")`,
	} {
		policy := compilePolicy(t, newEnvironment(t), rules("dyn("+expression+") == dyn('?')"))
		explained, err := policy.Explain(t.Context(), runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}})
		if err != nil {
			t.Fatal(err)
		}
		if shown := "dyn(" + expression + ") = " + want + "\n"; !strings.Contains(printed(explained), shown) {
			t.Errorf("there is no %q in\n%s", shown, printed(explained))
		}
	}
}
