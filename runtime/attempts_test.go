package runtime_test

import (
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// plausibleAttempts returns earlier attempts of a pod.
func plausibleAttempts(r *rand.Rand) []cel.Attempt {
	var attempts []cel.Attempt
	for range r.IntN(4) {
		attempts = append(attempts, cel.Attempt{
			Node: pick(r, []string{"", "node-1", "node-2"}), ExitCode: pick(r, []int32{0, 1, 137}), OOMKilled: r.IntN(2) == 0,
			Reason: pick(r, []string{"", "OOMKilled", "Evicted"}), StartTime: someTime, FinishTime: someTime.Add(time.Minute), Policy: "gpu", Rule: pick(r, []string{"a", "b"}),
		})
	}
	return attempts
}

// TestAttemptsAndFailedIndexes checks that rules see the earlier attempts, newest first, and the number of failed
// indexes, both with closures and with the interpreter.
func TestAttemptsAndFailedIndexes(t *testing.T) {
	env := newEnvironment(t)
	job := func(failed string, completions int32) *batchv1.Job {
		return &batchv1.Job{Spec: batchv1.JobSpec{Completions: &completions}, Status: batchv1.JobStatus{FailedIndexes: &failed}}
	}
	oom := cel.Attempt{Pod: "2", Node: "a", ExitCode: 137, Reason: "OOMKilled", OOMKilled: true, Policy: "gpu", Rule: "oom",
		StartTime: someTime, FinishTime: someTime.Add(time.Hour)}
	evicted := cel.Attempt{Pod: "1", Node: "b", Reason: "Evicted", StartTime: someTime.Add(-time.Hour), FinishTime: someTime}
	in := runtime.Input{Pod: exitCode(1), Attempts: []cel.Attempt{oom, evicted}, Job: job("0,3-5", 7)}
	in.Pod.Spec.NodeName = "a"
	none := runtime.Input{Pod: exitCode(1)}
	for _, c := range []struct {
		when string
		in   runtime.Input
		want bool
	}{
		{"attempts.size() == 2 && attempts[0].oomKilled && attempts[1].reason == 'Evicted'", in, true},
		{"attempts.exists(a, a.node == pod.spec.?nodeName.orValue('-'))", in, true},
		{"attempts.filter(a, a.oomKilled).size() >= 2", in, false},
		{"attempts.all(a, a.finishTime - a.startTime == duration('1h')) && attempts[0].exitCode == 137", in, true},
		{"attempts.map(a, a.policy + '/' + a.rule) == ['gpu/oom', '/']", in, true},
		{"attempts[0] == attempts[0] && attempts[0] != attempts[1] && attempts[0] in attempts", in, true},
		{"attempts.size() == 0 && !attempts[?0].hasValue()", none, true},
		{"attempts.exists(a, true)", none, false},
		{"pod.failedContainers().exists(c, c.exitCode == 1) && attempts.size() < 2", none, true},
		{"job.failedIndexCount() == 4 && job.failedIndexCount() * 2 > job.spec.?completions.orValue(0)", in, true},
		{"job.failedIndexCount() * 2 > job.spec.?completions.orValue(0)", runtime.Input{Pod: exitCode(1), Job: job("0,3-4", 7)}, false},
		{"job.failedIndexCount() == 0", none, true},
		{"job.failedIndexCount() == 0", runtime.Input{Pod: exitCode(1), Job: job("", 1)}, true},
	} {
		policy := compilePolicy(t, env, inCorner(c.when))
		for name, p := range bothWays(policy) {
			m, err := p.Evaluate(t.Context(), c.in)
			if got := m.Rule >= 0; err != nil || got != c.want {
				t.Errorf("%s, %s: %v, %v", c.when, name, got, err)
			}
		}
	}
}
