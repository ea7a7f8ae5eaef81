//go:build !race

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

// These tests reach the cost limit. With the race detector, which makes evaluation many times slower, the time limit would come
// first. They have one goroutine each.

// TestLargePods checks that evaluation ends on pods larger than any that an API server would store, with a result of the fast
// path or with an error.
func TestLargePods(t *testing.T) {
	env := newEnvironment(t)
	pod := exitCode(1)
	for range 20_000 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	for when, want := range map[string]string{
		"pod.failedContainers().exists(c, c.exitCode == 2)":                                                "<nil>",
		"pod.failedContainers().exists(c, c.exitCode + 0 == 2)":                                            "<nil>",
		"pod.failedContainers().exists(c, pod.failedContainers().exists(d, c.exitCode != d.exitCode + 0))": "costs more than 1000000",
		"pod.failedContainers().exists(c, pod.failedContainers().exists(d, c.name != d.name))":             "costs more than 1000000",
	} {
		_, err := compilePolicy(t, env, rules(when)).Evaluate(t.Context(), runtime.Input{Pod: pod})
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want %s", when, err, want)
		}
	}
	wordy := exitCode(1)
	wordy.Status.ContainerStatuses[0].Name = strings.Repeat("x", 4096) // longer than any name
	for range 400 {
		wordy.Status.ContainerStatuses = append(wordy.Status.ContainerStatuses, wordy.Status.ContainerStatuses[0])
	}
	_, err := compilePolicy(t, env, rules("pod.failedContainers().exists(c, pod.failedContainers().exists(d, d.name.contains('y')))")).Evaluate(t.Context(), runtime.Input{Pod: wordy})
	if !ends(err) {
		t.Errorf("400 long names and two loops: got %v", err)
	}
	pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:4000]
	_, err = compilePolicy(t, env, rules("pod.failedContainers().exists(c, pod.failedContainers().exists(d, c.name != d.name))")).Evaluate(t.Context(), runtime.Input{Pod: pod})
	if !ends(err) {
		t.Errorf("4000 containers and two loops: got %v", err)
	}
}

// TestLongLoopsEnd checks that a loop of the maximum length within its cost limit is evaluated to its end.
func TestLongLoopsEnd(t *testing.T) {
	t.Parallel()
	policy := compilePolicy(t, newEnvironment(t), rules("lists.range(150000).all(i, i >= 0)", "true"))
	match, err := policy.Evaluate(t.Context(), runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 1}), Job: &batchv1.Job{}, Attempt: 1})
	if match.Rule != 0 || err != nil {
		t.Errorf("rule %d, %v", match.Rule, err)
	}
}

// TestPolicyErrorsSayWhy checks that an error has the names of the policy and the rule, and the cause if the evaluation was
// stopped.
func TestPolicyErrorsSayWhy(t *testing.T) {
	for when, want := range map[string]runtime.PolicyError{
		evicted: {Policy: "platform", RuleName: "first", Cause: runtime.CauseError},
		costly:  {Policy: "platform", RuleName: "first", Cause: runtime.CauseCost},
	} {
		program := runtime.Join([]*runtime.Policy{customPolicy(t, "platform", v1alpha1.Rule{Name: "first", When: when, Action: ignore})}, nil, nil)
		v := program.Judge(t.Context(), runtime.Input{Pod: oomKilled(), Job: largeJob(), Attempt: 1})
		got, ok := errors.AsType[*runtime.PolicyError](v.Err)
		if !ok || got.Policy != want.Policy || got.RuleName != want.RuleName || got.Cause != want.Cause {
			t.Errorf("%s: %+v", when, v.Err)
		}
		if read := unmarshal(t, marshal(t, v)); !read.Equal(v) {
			t.Errorf("read back as %+v", read)
		}
	}
}
