package timeline

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/controller/simulation"
)

// attempt returns an attempt that ran from start to end.
func attempt(index int, start, end int64, fate simulation.Fate) simulation.Attempt {
	return simulation.Attempt{Index: index, Created: start, Started: start, Ended: end, Deleted: -1, Fate: fate}
}

func drawn(t *testing.T, r *simulation.Result) string {
	t.Helper()
	var b strings.Builder
	if err := WriteSVG(&b, r); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	hostile := `</text><script>alert("x & y")</script>` + "\x00\x1b"
	r := &simulation.Result{
		Namespace: "default", Name: hostile, Outcome: simulation.Failed, Reason: hostile, Seconds: 60, Indexes: 2,
		Attempts: []simulation.Attempt{attempt(0, 0, 20, simulation.FateFailJob), attempt(1, 0, -1, simulation.FateUnknown)},
		Events:   []simulation.Event{{Seconds: 20, Type: simulation.JobChanged, Message: hostile}},
	}
	if svg := drawn(t, r); strings.Contains(svg, "<script") {
		t.Errorf("the picture has a script: %s", svg)
	}
	drawn(t, &simulation.Result{Name: "empty"})
}

func TestSVGTitleFits(t *testing.T) {
	long := strings.Repeat("nightly-etl-of-the-", 10) + "orders-7"
	r := &simulation.Result{
		Namespace: long, Name: long, Outcome: simulation.Failed, Reason: "MaxFailedIndexesExceeded", Seconds: 600,
		Attempts: []simulation.Attempt{attempt(0, 0, 600, simulation.FateFailJob)},
	}
	p := &picture{result: r}
	title := p.title()
	if wide := float64(len([]rune(title))) * 11.4; margin+wide > width-margin || len(title) < 60 {
		t.Errorf("the title has about %v pixels: %s", wide, title)
	}
	if !strings.HasPrefix(title, "Job nightly-etl") || !strings.HasSuffix(title, "orders-7: Failed after 10m, MaxFailedIndexesExceeded") {
		t.Errorf("the title is %s", title)
	}
	if svg := drawn(t, r); !strings.Contains(svg, "<title>Job "+long+"/"+long+": Failed") {
		t.Error("the whole name is not in the tooltip")
	}
}

// A bar says what failed: in its tooltip, and on it if there is room.
func TestSVGSaysWhatFailed(t *testing.T) {
	failed := func(index int, start, end int64) simulation.Attempt {
		a := attempt(index, start, end, simulation.FateCounted)
		a.Because = "main OOMKilled (137)"
		return a
	}
	r := &simulation.Result{Name: "a", Seconds: 1000, Indexes: 2, Unit: simulation.UnitCompletion,
		Attempts: []simulation.Attempt{failed(0, 0, 500), failed(1, 0, 20)}}
	svg := drawn(t, r)
	if count := strings.Count(svg, ">main OOMKilled (137)</text>"); count != 1 {
		t.Errorf("%d bars have a text, want the long one to have it", count)
	}
	if !strings.Contains(svg, "<title>completion 1, attempt 0: main OOMKilled (137): Count, 0s to 20s</title>") {
		t.Errorf("no tooltip in %s", svg)
	}
}

// Only an Indexed Job has indexes.
func TestUnits(t *testing.T) {
	for _, test := range []struct {
		unit    simulation.Unit
		indexes int
		want    string
	}{
		{simulation.UnitIndex, 1, "index 0/index 0, attempt 2/indexes 0-1/ for 1 index"},
		{simulation.UnitIndex, 3, "index 0/index 0, attempt 2/indexes 0-1/ for 3 indexes"},
		{simulation.UnitCompletion, 1, "Pod/Pod, attempt 2/completions 0-1/"},
		{simulation.UnitCompletion, 3, "completion 0/completion 0, attempt 2/completions 0-1/ for 3 completions"},
		{simulation.UnitWorker, 3, "worker 0/worker 0, attempt 2/workers 0-1/ for 3 workers"},
	} {
		names := newNaming(&simulation.Result{Unit: test.unit, Indexes: test.indexes})
		at := func(indexes ...int) string {
			g := &group{Event: simulation.Event{Type: simulation.PodStarted, Attempt: new(2)}, indexes: indexes}
			return strings.TrimSuffix(names.text(g), ": started")
		}
		if got := strings.Join([]string{names.one(0), at(0), at(0, 1), names.count(test.indexes)}, "/"); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Everything that is drawn lies within the picture.
func TestSVGHasRoom(t *testing.T) {
	for _, indexes := range []int{1, 40, 41, 120, 121, 10_000, 100_000} {
		r := &simulation.Result{Name: "train", Seconds: 3600, Indexes: indexes}
		for i := range indexes {
			r.Attempts = append(r.Attempts, attempt(i, int64(i%1800), int64(i%1800)+600, simulation.FateSucceeded))
		}
		r.Attempts = append(r.Attempts, attempt(indexes/2, 3000, 3001, simulation.FateFailIndex))
		svg := drawn(t, r)
		if len(svg) > 600_000 {
			t.Errorf("%d indexes: the picture has %d bytes", indexes, len(svg))
		}
		if !strings.Contains(svg, `class="FailIndex" `) {
			t.Errorf("%d indexes: the one failure is not seen", indexes)
		}
		if rows := newRows(r); rows.count > 120 || rows.count*rows.size < indexes {
			t.Errorf("%d indexes: %d rows of %d", indexes, rows.count, rows.size)
		}
	}
}

func TestMarkersDoNotOverlap(t *testing.T) {
	r := &simulation.Result{Seconds: 100}
	for at := range int64(100) {
		r.Events = append(r.Events, simulation.Event{Seconds: at, Type: simulation.JobChanged, Message: "node node-1 drained"})
	}
	p := &picture{result: r}
	ends := map[int]float64{}
	for _, m := range p.placeMarkers() {
		from, to := p.extent(m)
		if from < ends[m.lane] || to > width {
			t.Errorf("marker %+v begins at %v, before %v", m, from, ends[m.lane])
		}
		ends[m.lane] = to
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
	Write(&b, &simulation.Result{Events: events}, false)
	lines := strings.Split(b.String(), "\n")
	want := []string{"TIME         EVENT", "0s to 1h     225 created, 225 created again, 450 succeeded", "1h to 2h     225 created, 225 created again, 450 succeeded"}
	if diff := cmp.Diff(want, lines[:3]); diff != "" {
		t.Error(diff)
	}
	if len(lines) > maxPeriods+4 || !strings.Contains(b.String(), "22h13m20s    condition Complete, Done: all\n") {
		t.Errorf("got %d lines: %s", len(lines), b.String())
	}
	b.Reset()
	if Write(&b, &simulation.Result{Events: events}, true); strings.Count(b.String(), "\n") != len(events)+1 {
		t.Error("wide leaves something out")
	}
}

func TestTextIsForTerminals(t *testing.T) {
	var b strings.Builder
	Write(&b, &simulation.Result{Events: []simulation.Event{{Type: simulation.JobChanged, Message: "a\x1b[31m\nb"}}}, false)
	WriteSummary(&b, &simulation.Result{Name: "a\x1b", Message: "\n"})
	if strings.ContainsAny(b.String(), "\x1b") || strings.Count(b.String(), "\n") != 7 {
		t.Errorf("got %q", b.String())
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "0-1,4": {4, 1, 0, 1}, "0-9": {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v are shown as %s, want %s", numbers, got, want)
		}
	}
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
