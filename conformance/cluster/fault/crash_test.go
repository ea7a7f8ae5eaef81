//go:build cluster

package fault

import (
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/podverdict/podverdict/internal/controlplane"
)

// crashTrials have all kinds of writes.
var crashTrials = []trial{
	{name: "replaced", slots: 3, parallelism: 2, limit: -1, failures: []int{1, 0, 2}},
	{name: "indexed", slots: 3, parallelism: 3, indexed: true, limit: 1, failures: []int{0, 2, 1}},
	{name: "ignored", slots: 2, parallelism: 1, indexed: true, limit: 0, failures: []int{2, 1}, code: codeIgnored},
}

// width is how many controllers live at a time.
const width = 8

// TestCrashAtEveryWrite kills the controller at every write of some Jobs, before the write and after it took effect, and
// starts another one: the outcome is that of the fates of the pods.
func TestCrashAtEveryWrite(t *testing.T) {
	cluster := controlplane.Start(t)
	for _, r := range crashTrials {
		t.Run(r.name, func(t *testing.T) {
			s := newStage(t, cluster, r)
			calm := s.start(t, &wire{})
			s.conclude(t)
			calm.kill()
			var crashes atomic.Int32
			var cuts errgroup.Group
			cuts.SetLimit(width)
			for at := range calm.writes {
				for _, after := range []bool{false, true} {
					cuts.Go(func() error {
						crashes.Add(crash(t, cluster, r, at+1, after))
						return nil
					})
				}
			}
			if err := cuts.Wait(); err != nil {
				t.Fatal(err)
			}
			// The number of writes depends a little on the time they take.
			if least := int32(calm.writes); crashes.Load() < least {
				t.Errorf("%d crashes, want %d at least", crashes.Load(), least)
			}
			t.Logf("%d writes, %d crashes", calm.writes, crashes.Load())
		})
	}
}

// crash runs a trial with a controller that is killed at a write, if there are as many, and one that follows it.
func crash(t *testing.T, cluster *controlplane.Cluster, r trial, at int, after bool) (crashes int32) {
	t.Helper()
	s := newStage(t, cluster, r)
	first := s.start(t, &wire{cutAt: at, cutAfter: after})
	until(t, fmt.Sprintf("write %d of %s", at, r.name), func() bool { return first.over() || s.settled(r.name) })
	first.kill()
	if first.writes >= at {
		crashes = 1
	}
	next := s.start(t, &wire{})
	s.conclude(t)
	next.kill()
	return crashes
}
