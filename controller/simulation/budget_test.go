package simulation

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podverdict/podverdict/compiler"
)

var language = sync.OnceValues(func() (*compiler.Environment, error) { return compiler.NewEnvironment(compiler.DefaultVersion) })

// newCustomOptions returns the options of newOptions with the rules of a policy before those of the Job.
func newCustomOptions(t testing.TB, spec, script, rules string) Options {
	t.Helper()
	return newLivingOptions(t, spec, script, rules, "livingPods: []")
}

// onCode returns a rule on the exit code 9 of a pod's container.
func onCode(more string) string {
	return "[{name: nine, when: 'pod.failedContainers().exists(c, c.exitCode == 9)', " + more + "}]"
}

func TestCustomRules(t *testing.T) {
	const nine = "pods: [{run: 5s, attempt: 1-5, exitCode: 9}, {run: 5s}]"
	for _, test := range []struct{ name, job, script, rules, want string }{
		{
			"FailJob", "completions: 1", nine, onCode("action: FailJob"),
			"Failed PodFailurePolicy after 6s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"a budget of the Job", "completions: 1\nbackoffLimit: 2", nine, onCode("action: Ignore, retryDelay: 0s, budget: {limit: 3, then: Count}"),
			"Complete CompletionsReached after 36s: succeeded 1, failed 2, verdicts [Count:2 Ignore:3]",
		},
		{
			"and then the end", "completions: 1\nbackoffLimit: 2", nine, onCode("action: Ignore, retryDelay: 0s, budget: {limit: 3, then: FailJob}"),
			"Failed PodFailurePolicy after 24s: succeeded 0, failed 1, verdicts [FailJob:1 Ignore:3]",
		},
		{
			"of all indexes", "completions: 2\nparallelism: 2\ncompletionMode: Indexed\nbackoffLimitPerIndex: 9", nine,
			onCode("action: Ignore, retryDelay: 0s, budget: {limit: 3, then: FailIndex}"),
			"Failed FailedIndexes after 18s: succeeded 0, failed 2, failed indexes 0,1, verdicts [FailIndex:2 Ignore:3]",
		},
		{
			"of each index", "completions: 2\nparallelism: 2\ncompletionMode: Indexed\nbackoffLimitPerIndex: 9", nine,
			onCode("action: Ignore, retryDelay: 0s, budget: {limit: 3, per: Index, then: FailIndex}"),
			"Failed FailedIndexes after 24s: succeeded 0, failed 2, failed indexes 0,1, verdicts [FailIndex:2 Ignore:6]",
		},
		{
			"the attempt", "completions: 1", nine, "[{name: third, when: attempt == 3, action: FailJob}]",
			"Failed PodFailurePolicy after 48s: succeeded 0, failed 3, verdicts [Count:2 FailJob:1]",
		},
		{
			"more at a time than the ledger holds", "completions: 600\nparallelism: 600\nbackoffLimit: 9", "pods: [{run: 5s, attempt: 1, exitCode: 9}, {run: 5s}]",
			onCode("action: Ignore, retryDelay: 0s, budget: {limit: 1000, then: Count}"),
			"Complete CompletionsReached after 12s: succeeded 600, failed 0, verdicts [Ignore:600]",
		},
		{
			"and beyond", "completions: 600\nparallelism: 600\nbackoffLimit: 99", "pods: [{run: 5s, attempt: 1, exitCode: 9}, {run: 5s}]",
			onCode("action: Ignore, retryDelay: 0s, budget: {limit: 590, then: Count}"),
			"Complete CompletionsReached after 12s: succeeded 600, failed 10, verdicts [Count:10 Ignore:590]",
		},
		{
			"of indexes", "completions: 600\nparallelism: 600\ncompletionMode: Indexed\nbackoffLimitPerIndex: 1",
			"pods: [{run: 5s, attempt: 1, exitCode: 9}, {run: 5s}]", onCode("action: Ignore, retryDelay: 10s, budget: {limit: 590, then: FailIndex}"),
			"Failed FailedIndexes after 22s: succeeded 590, failed 10, completed 0-589, failed indexes 590-599, verdicts [FailIndex:10 Ignore:590]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := Run(t.Context(), newCustomOptions(t, test.job, test.script, test.rules))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(result); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestCustomRulesAsOwnRules tests that custom rules and those of a podFailurePolicy have the same effect on the pods that
// a Job takes down.
func TestCustomRulesAsOwnRules(t *testing.T) {
	const job, script = "completions: 3\nparallelism: 3", `
pods: [{index: 0, run: 8s, exitCode: 42}, {index: 1, run: forever, stop: 20s}, {run: forever, stop: 2s}]
events: [{at: 5s, delete: 1}]`
	results := make([]string, 2)
	for i, o := range []Options{
		newOptions(t, job+policy, script),
		newCustomOptions(t, job, script, "[{name: end, when: 'pod.failedContainers().exists(c, c.exitCode == 42)', action: FailJob}]"),
	} {
		result, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		results[i] = told(result)
	}
	if results[0] != results[1] {
		t.Errorf("own rules:    %s\ncustom rules: %s", results[0], results[1])
	}
}

// TestToldBudgets tests that the events have the verdicts after budgets, and the delays requested by the rules.
func TestToldBudgets(t *testing.T) {
	o := newCustomOptions(t, "completions: 1", "pods: [{run: 5s, attempt: 1-2, exitCode: 9}, {run: 5s}]",
		onCode("action: Ignore, retryDelay: 2m, budget: {limit: 1, then: Count}"))
	o.Until = time.Hour
	result, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range result.Events {
		if e.Type == PodCreated {
			lines = append(lines, fmt.Sprintf("%d: created, delay %d", e.Seconds, e.Delay))
		}
		if e.Type != PodFailed {
			continue
		}
		text, err := json.Marshal(e.Verdict)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"usedUp":true`) != e.Verdict.IsUsedUp() {
			t.Errorf("the verdict is %s", text)
		}
		lines = append(lines, fmt.Sprintf("%d: failed, used up %v, %s", e.Seconds, e.Verdict.IsUsedUp(), e.Verdict.Action))
	}
	want := "0: created, delay 0\n6: failed, used up false, Ignore\n126: created, delay 120\n132: failed, used up true, Count\n252: created, delay 120"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
