package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/controller/simulation"
)

// TestKindText checks that an event that is not counted is named after its type.
func TestKindText(t *testing.T) {
	for event, want := range map[simulation.EventType]string{simulation.JobChanged: "JobChanged", simulation.PodStopped: "stopped"} {
		if got := kindText(simulation.Event{Type: event}); got != want {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}

// TestUnits checks that only an Indexed Job has indexes.
func TestUnits(t *testing.T) {
	for _, test := range []struct {
		unit    simulation.Unit
		indexes int
		want    string
	}{
		{simulation.UnitIndex, 1, "index 0/index 0, attempt 2/indexes 0,1"},
		{simulation.UnitIndex, 3, "index 0/index 0, attempt 2/indexes 0,1"},
		{simulation.UnitCompletion, 1, "Pod/Pod, attempt 2/completions 0,1"},
		{simulation.UnitCompletion, 3, "completion 0/completion 0, attempt 2/completions 0,1"},
		{simulation.UnitWorker, 3, "worker 0/worker 0, attempt 2/workers 0,1"},
	} {
		names := newNaming(&simulation.Result{Unit: test.unit, Indexes: test.indexes})
		at := func(indexes ...int) string {
			g := &group{Event: simulation.Event{Type: simulation.PodStarted, Attempt: new(2)}, indexes: indexes}
			return strings.TrimSuffix(names.text(g), ": started")
		}
		if got := strings.Join([]string{names.one(0), at(0), at(0, 1)}, "/"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestManyEventsAreSummedUp(t *testing.T) {
	var events []simulation.Event
	for i := range 10_000 {
		at := int64(i * 8)
		events = append(events,
			simulation.Event{Seconds: at, Type: simulation.PodCreated, Index: new(i), Attempt: new(1 + i%2)},
			simulation.Event{Seconds: at, Type: simulation.PodStarted, Index: new(i), Attempt: new(1)},
			simulation.Event{Seconds: at, Type: simulation.PodSucceeded, Index: new(i), Attempt: new(1)})
	}
	events = append(events, simulation.Event{Seconds: 80_000, Type: simulation.JobCondition, Reason: "Complete", Message: "Done: all"})
	var b strings.Builder
	writeTimeline(&b, &simulation.Result{Events: events}, false)
	lines := strings.Split(b.String(), "\n")
	want := []string{"TIME         EVENT", "0s to 1h     225 created, 225 created again, 450 succeeded", "1h to 2h     225 created, 225 created again, 450 succeeded"}
	if diff := cmp.Diff(want, lines[:3]); diff != "" {
		t.Error(diff)
	}
	if len(lines) > maxPeriods+4 || !strings.Contains(b.String(), "22h13m20s    condition Complete, Done: all\n") {
		t.Errorf("got %d lines: %s", len(lines), b.String())
	}
	b.Reset()
	if writeTimeline(&b, &simulation.Result{Events: events}, true); strings.Count(b.String(), "\n") != len(events)+1 {
		t.Error("wide leaves something out")
	}
}

func TestTextIsForTerminals(t *testing.T) {
	var b strings.Builder
	writeTimeline(&b, &simulation.Result{Events: []simulation.Event{{Type: simulation.JobChanged, Message: "a\x1b[31m\nb"}}}, false)
	writeSummary(&b, &simulation.Result{Name: "a\x1b", Message: "\n"})
	if strings.ContainsAny(b.String(), "\x1b") || strings.Count(b.String(), "\n") != 7 {
		t.Errorf("got %q", b.String())
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("10,", 40)
	if got := shortened(long); got != strings.Repeat("10,", 19)+"10,..." {
		t.Errorf("got %s", got)
	}
}

func TestSteps(t *testing.T) {
	for seconds, want := range map[int64]int64{0: 1, 10: 1, 11: 2, 3600: 600, 86400: 3 * 3600, 24_000_000: 28 * 86400} {
		if got := step(seconds, 10); got != want {
			t.Errorf("%d seconds: the step is %d, want %d", seconds, got, want)
		}
		if got := step(seconds, 10); got*10 < seconds {
			t.Error(fmt.Sprint(seconds, " seconds do not fit"))
		}
	}
}
