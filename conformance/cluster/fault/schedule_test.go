//go:build cluster

package fault

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/internal/controlplane"
)

var schedules = flag.Int("fault-schedules", 200, "how many random Jobs to run under random faults")

// together is how many Jobs share a controller.
const together = 10

// TestFaultSchedules runs random Jobs under controllers whose calls go wrong at random, before and after they took effect,
// whose watches lag and break, and which are killed every so many writes. The outcome of each Job is that of the fates of
// its pods.
func TestFaultSchedules(t *testing.T) {
	cluster := controlplane.Start(t)
	var faults, crashes atomic.Int64
	var stages errgroup.Group
	stages.SetLimit(2 * width)
	for first := 0; first < *schedules; first += together {
		stages.Go(func() error {
			random := rand.New(rand.NewPCG(99, uint64(first)))
			var trials []trial
			for n := range min(together, *schedules-first) {
				trials = append(trials, randomTrial(random, fmt.Sprintf("job-%d", first+n), 4))
			}
			s := newStage(t, cluster, trials...)
			for range 4 {
				l := s.start(t, &wire{cutAt: 10 + random.IntN(40), cutAfter: random.IntN(2) == 0, random: rand.New(rand.NewPCG(random.Uint64(), 0))})
				until(t, "a crash", func() bool { return l.over() || s.allSettled() })
				if l.over() {
					crashes.Add(1)
				}
				l.kill()
				faults.Add(int64(l.total()))
			}
			last := s.start(t, &wire{random: random})
			s.conclude(t)
			last.kill()
			faults.Add(int64(last.total()))
			return nil
		})
	}
	if err := stages.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs, %d faults, %d crashes", *schedules, faults.Load(), crashes.Load())
	if faults.Load() < int64(*schedules) || crashes.Load() < int64(*schedules/together) {
		t.Error("too little goes wrong")
	}
}

func (s *stage) allSettled() bool {
	for _, r := range s.trials {
		if !s.settled(r.name) {
			return false
		}
	}
	return true
}
