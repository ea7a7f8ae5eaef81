package simulation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestScriptErrors(t *testing.T) {
	const elastic = "completions: 2\nparallelism: 2\ncompletionMode: Indexed"
	const initializing = "template: {spec: {restartPolicy: Never, initContainers: [{name: prepare}], containers: [{name: main}, {name: side}]}}"
	for _, test := range []struct{ job, script, want string }{
		{"", "kind: Simulator", `kind: Unsupported value: "Simulator": supported values: "Simulation"`},
		{"", "apiVersion: v1", `apiVersion: Unsupported value: "v1": supported values: "podverdict.io/v1alpha1"`},
		{"", "nodes: -1", "nodes: Invalid value: -1: must be from 0 to 100000"},
		{"", "pods: [{run: 5x}]", `pods[0].run: Invalid value: "5x": must be a duration such as 90s or 1h30m, a range such as 10s-2m, or forever`},
		{"", "pods: [{run: -5s}]", `pods[0].run: Invalid value: "-5s": must be a duration such as 90s or 1h30m, a range such as 10s-2m, or forever`},
		{"", "pods: [{pending: 1500ms}]", `pods[0].pending: Invalid value: "1500ms": must be whole seconds, as the times of the API are`},
		{"", "pods: [{stop: 2m-1m}]", `pods[0].stop: Invalid value: "2m-1m": must not end before it begins`},
		{"", "pods: [{index: 3-1}]", `pods[0].index: Invalid value: "3-1": must be numbers from 0 and ranges of them: 3, 0-9,12 or 2+`},
		{"", "pods: [{attempt: -1}]", `pods[0].attempt: Invalid value: "-1": must be numbers from 0 and ranges of them: 3, 0-9,12 or 2+`},
		{"", "pods: [{attempt: 0-2}]", `pods[0].attempt: Invalid value: "0-2": attempts are counted from 1`},
		{"", "pods: [{probability: 1.5}]", "pods[0].probability: Invalid value: 1.5: must be from 0 to 1"},
		{"", "pods: [{exitCode: 1, oom: true}]", "pods[0]: Forbidden: a pod fails in one way: give one of exitCode, exitCodes and oom"},
		{"", "pods: [{needs: 900Mi, oom: true}]", "pods[0].needs: Forbidden: " + detailAlways},
		{"", "pods: [{needs: much}]", `pods[0].needs: Invalid value: "much": must be an amount of memory, such as 900Mi`},
		{"", "pods: [{needs: 900m}]", `pods[0].needs: Invalid value: "900m": must be an amount of memory, such as 900Mi`},
		{"", "pods: [{needs: -1Gi}]", `pods[0].needs: Invalid value: "-1Gi": must be an amount of memory, such as 900Mi`},
		{"", "pods: [{needs: 0.5Gi, exitCode: 1}]", ""},
		{"", "pods: [{exitCodes: {mian: 1}}]", `pods[0].exitCodes[mian]: Unsupported value: "mian": supported values: "main", "side"`},
		{"", "pods: [{condition: ' '}]", `pods[0].condition: Invalid value: " ": must be the type of a condition, such as DisruptionTarget`},
		{"", "pods: [{waiting: ErrImagePull}]", "pods[0].pending: Required value: how long the pod waits: a duration such as 10m, or forever"},
		{"", "pods: [{unschedulable: true}]", "pods[0].pending: Required value: how long the pod waits: a duration such as 10m, or forever"},
		{"", "pods: [{pending: 0s, unschedulable: true}]", `pods[0].pending: Invalid value: "0s": must be longer than 0s: the pod waits`},
		{"", "pods: [{pending: soon, unschedulable: true}]", `pods[0].pending: Invalid value: "soon": ` + errDuration.Error()},
		{"", "pods: [{pending: 1m, waiting: ErrImagePull, unschedulable: true}]", "pods[0]: Forbidden: " + detailOneWait},
		{"", "pods: [{pending: 1m, waiting: no image}]", `pods[0].waiting: Invalid value: "no image": ` + detailReason},
		{"", "pods: [{pending: 1m, waiting: CrashLoopBackOff}]", `pods[0].waiting: Invalid value: "CrashLoopBackOff": ` + detailHasRun},
		{"", "pods: [{pending: 1m, waiting: PodInitializing}]", `pods[0].waiting: Invalid value: "PodInitializing": ` + detailCreating},
		{initializing, "pods: [{pending: 1m, waiting: ContainerCreating}]", `pods[0].waiting: Invalid value: "ContainerCreating": ` + detailInitializing},
		{
			initializing, "pods: [{pending: 1m, waiting: ErrImagePull, exitCodes: {prepare: 1}}]",
			`pods[0].waiting: Invalid value: "ErrImagePull": ` + detailInitialized,
		},
		{initializing, "pods: [{pending: 1m, waiting: PodInitializing, exitCodes: {prepare: 1}}]", ""},
		{"", "pods: [{pending: 0s-1m, waiting: ContainerCreating, exitCode: 1}, {pending: forever, unschedulable: true}]", ""},
		{"", "events: [{suspend: true}]", "events[0].at: Required value"},
		{"", "events: [{at: forever, suspend: true}]", `events[0].at: Invalid value: "forever": must be a time that comes`},
		{"", "events: [{at: 1h}]", "events[0]: Required value: nothing happens: give suspend, parallelism, completions, delete, evict, drain, lose, outOfService or restore"},
		{"", "events: [{at: 1h, drain: node-1}]", `events[0].drain: Unsupported value: "node-1": supported values: "node-0"`},
		{"", "events: [{at: 1h, parallelism: -1}]", "events[0].parallelism: Invalid value: -1: must be from 0 to 100000"},
		{"", "nodes: 100001", "nodes: Invalid value: 100001: must be from 0 to 100000"},
		{"", "events: [{at: 1h, completions: 3}]", "events[0].completions: Invalid value: 3: " + detailFixed},
		{elastic, "events: [{at: 1h, completions: 3}]", "events[0].completions: Invalid value: 3: " + detailFixed},
		{elastic, "events: [{at: 1h, completions: 3, parallelism: 3}]", ""},
		{"", "apiVersion: podverdict.io/v1alpha1\nkind: Simulation\nnodes: 2\npods: [{index: 1, attempt: '1,3+', pending: forever}]", ""},
	} {
		o := Options{Job: newJob(t, "backoffLimit: 0\n"+test.job), Script: newScript(t, test.script), Until: time.Hour}
		_, err := Run(t.Context(), o)
		got := ""
		if refused, ok := errors.AsType[*ScriptError](err); ok {
			got = refused.Errors.ToAggregate().Error()
		} else if err != nil {
			t.Errorf("%s: %v", test.script, err)
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.script, got, test.want)
		}
	}
}

func TestIndexesOf(t *testing.T) {
	if got, want := indexesOf("0,2-4,7"), []int{0, 2, 3, 4, 7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestUnlike tests that unlike returns parts with all differences of two lists.
func TestUnlike(t *testing.T) {
	for _, test := range []struct{ a, b, partA, partB string }{
		{"", "", "", ""},
		{"1", "1", "1", "1"},
		{"", "5", "", "5"},
		{"1,3", "1,3,5", "3", "3,5"},
		{"3,9", "1,3,9", "3", "1,3"},
		{"1,3,7-9,20", "1,3-5,7-9,20", "3", "3-5"},
		{"1,13", "1,11,13", "13", "11,13"},
		{"1,2,4,9", "1,2,3,4,9", "4", "3,4"},
		{"1-3,5", "1-5", "1-3,5", "1-5"},
	} {
		if a, b := unlike(test.a, test.b); a != test.partA || b != test.partB {
			t.Errorf("%s and %s: got %s and %s", test.a, test.b, a, b)
		}
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 59: "59s", 60: "1m", 600: "10m", 3600: "1h", 3605: "1h0m5s", 72000: "20h", 86460: "24h1m",
	} {
		if got := Clock(seconds); got != want {
			t.Errorf("%d seconds are shown as %s, want %s", seconds, got, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, newOptions(t, "completions: 1", "")); err == nil {
		t.Error("a cancelled simulation goes on")
	}
}

func TestTooLarge(t *testing.T) {
	_, err := Run(t.Context(), newOptions(t, "completions: 2000000000\nparallelism: 1000000000", ""))
	if want := "spec.parallelism: 1000000000 pods at a time are too many to simulate, at most 100000 are possible"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
