package controllerbench

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// whole returns a trial of a failing Job, in which each phase makes a call for each pod, and works on for half a second.
func whole(step time.Duration, pods int, kind Kind) []Phase {
	var phases []Phase
	for _, goal := range Fail().phases {
		calls := Calls{kind: pods, {"create", "events"}: 2, {"watch", "pods"}: 7}
		phases = append(phases, Phase{Milestone: goal, Reached: step, Worked: step + time.Second/2, Calls: calls})
	}
	return phases
}

func TestTable(t *testing.T) {
	table := Table{Peer: "theirs", Own: "ours"}
	patch, create := Kind{"patch", "pods"}, Kind{"create", "pods"}
	peer := [][]Phase{whole(9*time.Second, 2000, patch), whole(2*time.Second, 2000, patch), whole(time.Second, 2000, patch)}
	own := [][]Phase{whole(time.Second, 1000, create)}
	table.add(Fail(), 1000, peer, own)
	table.add(Succeed(), 10, [][]Phase{peer[0][:1]}, own) // ended before there was anything to measure
	var got strings.Builder
	table.Write(&got)
	want := `| pods | runs | theirs s | ours s | ratio | at most | theirs calls | ours calls | theirs a pod | ours a pod | events |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| 1000 fail, until they are replaced | 1 | 2.00 | 1.00 | 0.50 | 0.55 | 2000 | 1000 | 2.00 | 1.00 | 2 / 2 |
| 1000 fail twice, until Failed | 1 | 7.00 | 4.00 | 0.57 | 1.00 | 6000 | 3000 | 3.00 | 1.50 | 6 / 6 |
| 1000 fail twice, until the last finalizer is gone | 1 | 9.50 | 5.50 | 0.58 | 1.00 | 8000 | 4000 | 4.00 | 2.00 | 8 / 8 |

| pods, calls of theirs / ours | create events | create pods | patch pods |
|---|---:|---:|---:|
| 1000 fail, until they are replaced | 2 / 2 | 0 / 1000 | 2000 / 0 |
| 1000 fail twice, until Failed | 6 / 6 | 0 / 3000 | 6000 / 0 |
| 1000 fail twice, until the last finalizer is gone | 8 / 8 | 0 / 4000 | 8000 / 0 |
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyTable(t *testing.T) {
	var got strings.Builder
	if new(Table).Write(&got); got.Len() > 0 {
		t.Errorf("got %s", &got)
	}
}

func TestBars(t *testing.T) {
	for _, tt := range []struct {
		pods int
		want float64
	}{{10, 1}, {999, 1}, {1000, 0.55}, {10_000, 0.55}} {
		if got := Fail().measures[0].atMost(tt.pods); got != tt.want {
			t.Errorf("%d pods that fail: at most %v, want %v", tt.pods, got, tt.want)
		}
		if got := Succeed().measures[0].atMost(tt.pods); got != 1 {
			t.Errorf("%d pods that succeed: at most %v", tt.pods, got)
		}
	}
}

func TestMiddle(t *testing.T) {
	even := []sample{{time: 4 * time.Second}, {time: time.Second}, {time: 2 * time.Second}, {time: 9 * time.Second}}
	if got := middle(even, seconds); got != 3 {
		t.Errorf("got %v", got)
	}
}

func TestRefill(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		want  time.Duration
	}{
		{DefaultLimit, 1200 * time.Millisecond},
		{Limit{QPS: 20, Burst: 30}, 1700 * time.Millisecond},
		{Limit{QPS: 5000, Burst: 1}, 1200 * time.Millisecond},
	} {
		if got := tt.limit.refill(); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.limit, got, tt.want)
		}
	}
}

func TestComparisonChecks(t *testing.T) {
	for name, c := range map[string]Comparison{
		"no limit":  {},
		"no burst":  {Limit: Limit{QPS: 1}},
		"no number": {Limit: Limit{QPS: float32(math.NaN()), Burst: 1}},
		"infinite":  {Limit: Limit{QPS: float32(math.Inf(1)), Burst: 1}},
		"no pods":   {Limit: DefaultLimit, Sizes: []int{10, 0}},
		"many pods": {Limit: DefaultLimit, Sizes: []int{10_001}},
		"runs":      {Limit: DefaultLimit, Runs: -1},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNumberOfRuns(t *testing.T) {
	for pods, want := range map[int]int{1: 5, 10: 5, 100: 3, 1000: 1} {
		if got := (Comparison{}).number(pods); got != want {
			t.Errorf("%d pods: %d runs", pods, got)
		}
	}
	if got := (Comparison{Runs: 2}).number(10); got != 2 {
		t.Errorf("%d runs", got)
	}
}
