package simulation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// runSet simulates a JobSet with one driver and two workers, each a Job with one Pod that runs for a minute, with
// additional spec.
func runSet(t *testing.T, spec, script string) (*SetResult, error) {
	t.Helper()
	const job = "template: {spec: {backoffLimit: 0, completions: 1, parallelism: 1, template: {spec: {restartPolicy: Never, containers: [{name: main}]}}}}"
	set := &v1alpha2.JobSet{}
	text := fmt.Sprintf("metadata: {name: s}\nspec:\n  replicatedJobs: [{name: driver, replicas: 1, %s}, {name: workers, replicas: 2, %s}]\n  %s\n", job, job, spec)
	if err := yaml.UnmarshalStrict([]byte(text), set); err != nil {
		t.Fatal(err)
	}
	var s Script
	if err := yaml.UnmarshalStrict(fmt.Appendf(nil, "pods: [%s{run: 1m, stop: 9s}]", script), &s); err != nil {
		t.Fatal(err)
	}
	if depends, ok := strings.CutPrefix(spec, "# workers depend: "); ok {
		set.Spec.ReplicatedJobs[1].DependsOn = []v1alpha2.DependsOn{{Name: "driver", Status: v1alpha2.DependsOnStatus(depends)}}
	}
	jobset.SetDefaults(set)
	return RunSet(t.Context(), SetOptions{Options: Options{Script: s, Seed: 1, Until: time.Hour}, Set: set})
}

// story describes when each Job started and ended.
func story(r *SetResult) string {
	var text strings.Builder
	for _, l := range r.Jobs {
		fmt.Fprintf(&text, "%s %d-%d %s, ", strings.TrimPrefix(l.Name, "s-"), l.Created, l.Created+l.Seconds, l.Outcome)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(&text, "%d: %s %d/%d, ", f.Seconds, f.Action, f.Restart, f.Max)
	}
	fmt.Fprintf(&text, "%s %d %s", r.Outcome, r.Seconds, r.Reason)
	return text.String()
}

func TestRunSet(t *testing.T) {
	const fails = "{job: workers-1, restart: 0, run: 20s, exitCode: 1}, "
	for _, test := range []struct{ name, spec, script, want string }{
		{"all succeed", "", "", "driver-0 0-61 Complete, workers-0 0-61 Complete, workers-1 0-61 Complete, Complete 61 AllJobsCompleted"},
		{
			"without a policy", "", fails,
			"driver-0 0-21 Unfinished, workers-0 0-21 Unfinished, workers-1 0-21 Failed, 21:  0/0, Failed 21 FailedJobs",
		},
		{
			"each is created again when it is gone", "failurePolicy: {maxRestarts: 1}", fails + "{job: driver, restart: 0, run: 1m, stop: 15s}, ",
			"driver-0 0-21 Unfinished, workers-0 0-21 Unfinished, workers-1 0-21 Failed, workers-1 21-82 Complete, workers-0 30-91 Complete, driver-0 36-97 Complete, " +
				"21: RestartJobSet 1/1, Complete 97 AllJobsCompleted",
		},
		{
			"all are created again when all are gone", "failurePolicy: {maxRestarts: 1, restartStrategy: BlockingRecreate}", fails + "{job: driver, restart: 0, run: 1m, stop: 15s}, ",
			"driver-0 0-21 Unfinished, workers-0 0-21 Unfinished, workers-1 0-21 Failed, driver-0 36-97 Complete, workers-0 36-97 Complete, workers-1 36-97 Complete, " +
				"21: RestartJobSet 1/1, Complete 97 AllJobsCompleted",
		},
		{
			"as often as it may", "failurePolicy: {maxRestarts: 1}", "{job: driver, run: 5s, exitCode: 3}, ",
			"driver-0 0-6 Failed, workers-0 0-6 Unfinished, workers-1 0-6 Unfinished, driver-0 6-12 Failed, 6: RestartJobSet 1/1, 12: RestartJobSet 0/0, Failed 12 ReachedMaxRestarts",
		},
		{
			"one Job alone", "failurePolicy: {maxRestarts: 1, rules: [{action: RestartJob}]}", fails + "{job: driver, run: 40s, exitCode: 1}, ",
			"driver-0 0-41 Failed, workers-0 0-41 Unfinished, workers-1 0-21 Failed, workers-1 21-41 Unfinished, 21: RestartJob 1/1, 41: RestartJob 0/0, Failed 41 ReachedMaxRestarts",
		},
		{
			"any of the workers suffices", "successPolicy: {operator: Any, targetReplicatedJobs: [workers]}", "{job: driver, run: 5s}, {job: workers-0, run: 30s}, ",
			"driver-0 0-6 Complete, workers-0 0-31 Complete, workers-1 0-31 Unfinished, Complete 31 AllJobsCompleted",
		},
		{
			"when the driver is ready", "# workers depend: Ready", "{job: driver, pending: 7s}, ",
			"driver-0 0-37 Complete, workers-0 7-68 Complete, workers-1 7-68 Complete, Complete 68 AllJobsCompleted",
		},
		{
			"when the driver is complete", "# workers depend: Complete", "",
			"driver-0 0-61 Complete, workers-0 61-122 Complete, workers-1 61-122 Complete, Complete 122 AllJobsCompleted",
		},
		{
			"in order", "startupPolicy: {startupPolicyOrder: InOrder}", "{job: driver, pending: 7s, run: 1s}, ",
			"driver-0 0-8 Complete, workers-0 7-68 Complete, workers-1 7-68 Complete, Complete 68 AllJobsCompleted",
		},
		{"suspended", "suspend: true", "", "driver-0 0-3600 Unfinished, workers-0 0-3600 Unfinished, workers-1 0-3600 Unfinished, Unfinished 3600 "},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := runSet(t, test.spec, test.script)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, story(result)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRunSetCountsPods tests that Pods that end with their Job count as stopped, and their time as wasted.
func TestRunSetCountsPods(t *testing.T) {
	result, err := runSet(t, "failurePolicy: {maxRestarts: 1}", "{job: workers-1, restart: 0, run: 20s, exitCode: 1}, ")
	if err != nil {
		t.Fatal(err)
	}
	total := Summary{Verdicts: map[string]int{}}
	for _, l := range result.Jobs {
		total.Add(l.Summary)
	}
	total.Plans, total.Writes = 0, 0
	want := Summary{Pods: 6, Succeeded: 3, Stopped: 2, Verdicts: map[string]int{"Count": 1}, PodSeconds: 240, WastedSeconds: 60}
	if diff := cmp.Diff(want, total); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRunSetRefuses(t *testing.T) {
	_, err := runSet(t, "", "{job: driver-1}, {restart: x}, ")
	const want = `script: [pods[0].job: Invalid value: "driver-1": must be a replicatedJob, or one of its Jobs as in workers-0, ` +
		`pods[1].restart: Invalid value: "x": must be numbers from 0 and ranges of them: 3, 0-9,12 or 2+]`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
