package controller_test

import (
	"flag"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
)

// crashScenarios returns scenarios with every kind of call, completion mode and outcome.
func crashScenarios() []scenario {
	fails := exits(map[int][]int32{0: {1, 1}, 2: {1}})
	return []scenario{
		{name: "all succeed", job: managed(2, completions(3)), fate: succeeds, calm: true},
		{name: "failures are replaced", job: managed(2, completions(3)), fate: fails, calm: true},
		{name: "back-off limit", job: managed(2, completions(3), backoffLimit(1)), fate: always(1, 0), calm: true},
		{name: "back-off limit while others run", job: managed(3, completions(3), backoffLimit(0)), fate: exits(map[int][]int32{0: {1}, 1: {runs}, 2: {runs}})},
		{name: "indexes", job: managed(3, indexed(4)), fate: fails, calm: true},
		{name: "index limit", job: managed(4, indexed(4), perIndex(1)), fate: always(1, 1, 3), calm: true},
		{name: "index limit one by one", job: managed(1, indexed(3), perIndex(1)), fate: always(1, 1), calm: true},
		{name: "too many failed indexes", job: managed(3, indexed(4), perIndex(0), maxFailedIndexes(1)), fate: always(1, 0, 1)},
		{name: "FailIndex", job: managed(3, indexed(3), perIndex(5), policy), fate: always(codeFailIndex, 1), calm: true},
		{name: "FailJob", job: managed(3, completions(3), policy), fate: exits(map[int][]int32{0: {1}, 1: {codeFailJob}, 2: {runs}})},
		{name: "FailJob with indexes", job: managed(2, indexed(4), perIndex(2), policy), fate: always(codeFailJob, 2)},
		{name: "Ignore", job: managed(2, indexed(2), backoffLimit(0), policy), fate: exits(map[int][]int32{0: {codeIgnore, codeIgnore}}), calm: true},
		{name: "Count", job: managed(2, indexed(2), perIndex(1), policy), fate: always(codeCount, 0), calm: true},
		{name: "ignored disruption", job: managed(2, indexed(2), perIndex(0), policy), fate: exits(map[int][]int32{0: {evicted, evicted}, 1: {evicted}})},
		{name: "disruption", job: managed(2, completions(2)), fate: exits(map[int][]int32{0: {evicted}, 1: {1, evicted}})},
		{name: "disruption and replacement of failed pods", job: managed(2, completions(2), replaceFailed), fate: exits(map[int][]int32{0: {evicted, 1}})},
		{name: "success policy by count", job: managed(2, indexed(4), succeededCount(2)), fate: always(runs, 0)},
		{name: "success policy by index", job: managed(3, indexed(3), succeededIndexes("1")), fate: exits(map[int][]int32{0: {runs}, 1: {1}, 2: {runs}})},
		{name: "deadline", job: managed(2, completions(2), deadline(100)), fate: exits(map[int][]int32{0: {runs}})},
		{name: "deadline and replacement of failed pods", job: managed(2, indexed(2), deadline(100), replaceFailed), fate: always(runs, 1)},
		{name: "work queue", job: managed(3), fate: succeeds, calm: true},
		{name: "work queue with failures", job: managed(2), fate: exits(map[int][]int32{0: {1, 1}, 1: {1}}), calm: true},
		{name: "no completions", job: managed(2, completions(0)), fate: succeeds, calm: true},
		{name: "suspended and resumed", job: managed(2, completions(3)), fate: fails, acts: []act{
			{running(2), changes(suspend)}, {activePods(0), changes(resume)},
		}},
		{name: "created suspended", job: managed(2, indexed(2), suspended), fate: fails, acts: []act{{activePods(0), changes(resume)}}, calm: true},
		{name: "suspended with replacement of failed pods", job: managed(2, indexed(3), replaceFailed), fate: fails, acts: []act{
			{running(2), changes(suspend)}, {activePods(0), changes(resume)},
		}},
		{name: "lower and higher parallelism", job: managed(4, indexed(5)), fate: fails, acts: []act{
			{running(4), changes(parallelism(1))}, {activePods(1), changes(parallelism(3))},
		}},
		{name: "elastic", job: managed(4, indexed(4)), fate: exits(map[int][]int32{0: {1}, 3: {1}}), acts: []act{
			{failures(1), changes(scale(2))}, {failures(1), changes(scale(3))},
		}},
		{name: "pods are deleted", job: managed(2, completions(3)), fate: fails, acts: []act{{running(2), deletePod}, {failures(2), deletePod}}},
		{name: "few failed pods are kept", job: annotated(managed(2, completions(3)), plan.FailedPodsLimitAnnotation, "1"), fate: exits(map[int][]int32{0: {1, 1}, 1: {1}})},
		{name: "few pods are held", job: managed(3, completions(6)), fate: fails, settings: plan.Settings{MaxHeld: 2, MaxReleasing: 2}, calm: true},
		{name: "few pods with indexes are held", job: managed(3, indexed(6), perIndex(2)), fate: fails, settings: plan.Settings{MaxHeld: 2, MaxReleasing: 2}, calm: true},
		{name: "the job is deleted", job: managed(2, completions(3)), fate: fails, acts: []act{{failures(1), func(c *cluster) {
			_ = c.server.DeleteJob(namespace, jobName) // it exists
		}}}},
		{
			name: "custom policy with a budget", job: managed(1, completions(2)), policies: sparing(2, v1alpha1.PerJob, count),
			fate: exits(map[int][]int32{0: {codeIgnore, codeIgnore, codeIgnore, 1}, 1: {codeIgnore}}), calm: true,
		},
		{
			name: "custom policy with a budget that fails the Job", job: managed(1, completions(1)), policies: sparing(2, v1alpha1.PerJob, failJob),
			fate: always(codeIgnore, 0), calm: true,
		},
		{
			name: "custom policy with a budget for each index", job: managed(2, indexed(3), perIndex(3)),
			policies: sparing(1, v1alpha1.PerIndex, batchv1.PodFailurePolicyActionFailIndex),
			fate:     exits(map[int][]int32{0: {codeIgnore, 1}, 1: {codeIgnore, codeIgnore}, 2: {1}}), calm: true,
		},
		{
			name: "custom policy with a budget while few pods are held", job: managed(2, completions(4)), policies: sparing(3, v1alpha1.PerJob, count),
			fate:     exits(map[int][]int32{0: {codeIgnore, codeIgnore}, 1: {codeIgnore, 1}, 3: {codeIgnore, codeIgnore}}),
			settings: plan.Settings{MaxHeld: 2, MaxReleasing: 2}, calm: true,
		},
		livesIn("pods that never end", count, managed(2, indexed(3)), exits(map[int][]int32{0: {runs, restarts}, 1: {stuck}})),
		livesIn("pods that never end, of which each fails an index", batchv1.PodFailurePolicyActionFailIndex, managed(2, indexed(3), perIndex(1)), always(restarts, 1)),
		livesIn("a node is lost", count, managed(2, indexed(3), replaceFailed), exits(map[int][]int32{0: {runs}}), act{running(2), lose}),
		livesIn("a node is lost and comes back", count, managed(1, indexed(2)), exits(map[int][]int32{0: {runs}}), act{running(1), lose}, act{failures(1), comeBack}),
		{name: "pods are taken away by their end", job: managed(2, indexed(3), policy), fate: exits(map[int][]int32{0: {1}}), acts: []act{{failures(1), deleteEnded}}},
	}
}

// livesIn returns a scenario with rules on living pods.
func livesIn(name string, action batchv1.PodFailurePolicyAction, job *batchv1.Job, fate fate, acts ...act) scenario {
	s := scenario{name: name, job: job, fate: fate, acts: acts}
	s.liveOn(action)
	return s
}

func lose(c *cluster) { c.setNode("node-0", false) }

func comeBack(c *cluster) { c.setNode("node-0", true) }

// deleteEnded deletes all terminal pods.
func deleteEnded(c *cluster) {
	for _, pod := range c.server.Pods() {
		if terminal(pod) {
			_ = c.server.DeletePod(pod.Namespace, pod.Name, 0) // it exists
		}
	}
}

var crashStep = flag.Int("crash-step", 3, "kill the controller at one of so many writes; 1 is every write")

// TestCrashAtEveryWrite kills the controller at every write to Jobs and pods of every scenario, once before the write and once after it
// took effect, and starts another one. The final status must be the same as without a crash. Writes of events are not included. The test
// covers one of every -crash-step writes.
func TestCrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	for i, s := range crashScenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			calm := isolated(t, s, (*cluster).settle)
			want := calm.outcome()
			if len(calm.violations) > 0 {
				t.Fatalf("without a crash: %s\n%s", want, calm)
			}
			step := *crashStep
			if testing.Short() {
				step = 20
			}
			for at := i % step; at < 2*calm.writes; at += step {
				crashes(t, s, at/2+1, at%2 == 1, want)
			}
		})
	}
}

func crashes(t *testing.T, s scenario, at int, after bool, want string) {
	t.Helper()
	c := isolated(t, s, func(c *cluster) {
		c.cutAt, c.cutAfter = at, after
		c.settle()
	})
	got := c.outcome()
	if got == want && len(c.violations) == 0 && c.crashes == 1 {
		return
	}
	t.Errorf("crash at write %d, which took effect: %v; %d crashes\ngot  %s\nwant %s\n%s", at, after, c.crashes, got, want, c)
}
