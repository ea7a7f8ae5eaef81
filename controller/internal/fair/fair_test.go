package fair

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// tenant is a namespace with Jobs, each of which needs some processing time.
type tenant struct {
	jobs  int
	takes time.Duration
	after time.Duration // delay until the Jobs are added
}

// lastLook returns the time at which the last Job of each tenant has been processed by the given number of workers.
func lastLook(t *testing.T, workers int, tenants map[string]tenant) map[string]time.Duration {
	t.Helper()
	ended := map[string]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		start := time.Now()
		q := NewQueue(clock.RealClock{}, workers, time.Second, time.Minute, func(key types.NamespacedName) string { return key.Namespace })
		var adding, working sync.WaitGroup
		for namespace, tenant := range tenants {
			adding.Go(func() {
				time.Sleep(tenant.after)
				for i := range tenant.jobs {
					q.Add(types.NamespacedName{Namespace: namespace, Name: strconv.Itoa(i)})
				}
			})
		}
		var mu sync.Mutex
		for range workers + reserve {
			working.Go(func() {
				for {
					key, down := q.Get()
					if down {
						return
					}
					time.Sleep(tenants[key.Namespace].takes)
					mu.Lock()
					ended[key.Namespace] = time.Since(start) - tenants[key.Namespace].after
					mu.Unlock()
					q.Done(key)
				}
			})
		}
		adding.Wait()
		q.ShutDownWithDrain()
		working.Wait()
		if q.Len() != 0 {
			t.Errorf("%d keys are left", q.Len())
		}
	})
	return ended
}

// TestWorkersAreShared checks that the backlog of one tenant does not delay another, which waits for a worker at most for the time needed
// to process one Job.
func TestWorkersAreShared(t *testing.T) {
	const look = time.Second
	heavy := tenant{jobs: 1000, takes: look}
	for name, c := range map[string]struct {
		workers int
		tenants map[string]tenant
		most    map[string]time.Duration
	}{
		"one Job beside a thousand": {
			5, map[string]tenant{"a": heavy, "b": {jobs: 1, takes: look, after: 10*look + look/2}},
			map[string]time.Duration{"b": look}, // a worker is reserved for others
		},
		"one Job beside several thousand of several": {
			5, map[string]tenant{"a": heavy, "c": heavy, "d": heavy, "b": {jobs: 1, takes: look, after: 10*look + look/2}},
			map[string]time.Duration{"b": 2 * look},
		},
		"many Jobs that take little time": {
			1, map[string]tenant{"a": heavy, "b": {jobs: 100, takes: look / 100}},
			map[string]time.Duration{"b": 2 * look},
		},
		"one worker": {
			1, map[string]tenant{"a": heavy, "b": {jobs: 1, takes: look, after: 10*look + look/2}},
			map[string]time.Duration{"b": look},
		},
		"as many Jobs": {
			4, map[string]tenant{"a": heavy, "b": {jobs: 10, takes: look}},
			map[string]time.Duration{"b": 6 * look},
		},
		"alone": {
			5, map[string]tenant{"a": heavy}, map[string]time.Duration{"a": 200 * look},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := lastLook(t, c.workers, c.tenants)
			for namespace, most := range c.most {
				if got[namespace] > most {
					t.Errorf("the Jobs of %s took %v, want at most %v", namespace, got[namespace], most)
				}
			}
		})
	}
}

// TestTurns checks that the namespace that has used the least time is next. A namespace accumulates no credit while it has no work. Time
// used in excess of the others is remembered while they have work.
func TestTurns(t *testing.T) {
	for name, steps := range map[string][]string{
		"time is used":                    {"+a1", "+a2", "a1 10", "+b1", "+b2", "+b3", "b1 4", "b2 4", "b3 4", "a2 1"},
		"the one that was served earlier": {"+a1", "a1 0", "+a2", "+a3", "a2 0", "+b1", "b1 0", "a3 0"},
		"no time is saved up":             {"+a1", "+a2", "+a3", "a1 10", "a2 10", "+b1", "+b2", "b1 10", "a3 10", "b2 10"},
		"nor by one who is remembered":    {"+a1", "+a2", "+a3", "+a4", "a1 0", "+b1", "b1 5", "a2 10", "a3 10", "+b2", "+b3", "b2 10", "a4 0", "b3 0"},
		"what was used is remembered":     {"+a1", "+a2", "a1 0", "+b1", "+b2", "+b3", "b1 0", "a2 100", "b2 10", "+a3", "b3 10", "a3 10"},
	} {
		t.Run(name, func(t *testing.T) {
			turns := NewTurns(0, func(work string) string { return work[:1] })
			for i, step := range steps {
				work, seconds, popped := strings.Cut(step, " ")
				if !popped {
					turns.Push(work[1:])
					continue
				}
				got, found := turns.Pop()
				if got != work || !found {
					t.Fatalf("step %d is the turn of %q, want %q", i, got, work)
				}
				took, _ := strconv.Atoi(seconds)
				turns.End(got, time.Duration(took)*time.Second)
			}
			if len(turns.namespaces) != 0 || turns.busy != 0 || turns.waiting != 0 {
				t.Errorf("%d namespaces are remembered, %d busy, %d waiting", len(turns.namespaces), turns.busy, turns.waiting)
			}
		})
	}
}

// TestCallsAreShared checks that a call waits for as many calls of another namespace as of its own, not for all earlier calls.
func TestCallsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimiter(&rest.Config{QPS: 10, Burst: 10})
		start := time.Now()
		var mu sync.Mutex
		var calling sync.WaitGroup
		call := func(namespace string, calls int) *time.Duration {
			last := new(time.Duration)
			for range calls {
				calling.Go(func() {
					if err := limit.Wait(InNamespace(t.Context(), namespace)); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					*last = max(*last, time.Since(start))
				})
				synctest.Wait()
			}
			return last
		}
		a := call("a", 510)
		time.Sleep(10*time.Second + 50*time.Millisecond)
		if limit.TryAccept() {
			t.Error("a call overtakes those that wait")
		}
		b := call("b", 20)
		calling.Wait()
		if want := 52 * time.Second; *a < want-time.Second || *a > want+time.Second {
			t.Errorf("all calls took %v, want %v", *a, want)
		}
		if most := 10*time.Second + 41*100*time.Millisecond; *b > most {
			t.Errorf("20 calls beside many took until %v, want %v", *b, most)
		}
		time.Sleep(time.Minute)
		for i := range 11 {
			if got, want := limit.TryAccept(), i < 10; got != want {
				t.Errorf("call %d at once: %t", i, got)
			}
		}
		if limit := limit.(*limiter); len(limit.turns.namespaces) != 0 {
			t.Errorf("%d namespaces are remembered", len(limit.turns.namespaces))
		}
	})
}

// TestSpareCalls checks that low-priority calls are released when no others wait, and leave the burst to the next calls.
func TestSpareCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimiter(&rest.Config{QPS: 10, Burst: 11})
		spare := NewSpareLimiter(limit)
		var all []string
		var mu sync.Mutex
		served := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		var calling sync.WaitGroup
		call := func(name string, limit flowcontrol.RateLimiter, calls int) {
			for range calls {
				calling.Go(func() {
					if err := limit.Wait(t.Context()); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					all = append(all, name)
				})
			}
			synctest.Wait()
		}
		call("spare", spare, 20)
		if got := served(); len(got) != 1 {
			t.Errorf("%d calls that can wait came at once, want 1", len(got))
		}
		call("other", limit, 10)
		if got := served(); len(got) != 11 || slices.Contains(got[1:], "spare") {
			t.Errorf("the burst went to %v", got)
		}
		call("other", limit, 5)
		time.Sleep(550 * time.Millisecond)
		synctest.Wait()
		if got := served(); len(got) != 16 || slices.Contains(got[11:], "spare") {
			t.Errorf("while others wait, there came %v", got)
		}
		start := time.Now()
		calling.Wait()
		if took := time.Since(start); took < 2800*time.Millisecond || took > 3*time.Second {
			t.Errorf("the last 19 came after %v: they wait until the burst is there again", took)
		}
	})
}

// TestKeysAreNotDoubled checks that a key added while it waits is processed once, and a key added while it is being processed is processed
// once more.
func TestKeysAreNotDoubled(t *testing.T) {
	q := newTurnQueue(clock.RealClock{}, 1, func(string) string { return "a" })
	q.Add("job")
	q.Add("job")
	if got := q.Len(); got != 1 {
		t.Errorf("%d keys wait, want 1", got)
	}
	key, _ := q.Get()
	q.Add("job")
	q.Add("job")
	if got := q.Len(); got != 0 {
		t.Errorf("%d keys wait while theirs is worked on", got)
	}
	q.Done(key)
	if got := q.Len(); got != 1 {
		t.Errorf("%d keys wait after the work, want 1", got)
	}
}

// TestShares checks that namespaces can use all slots together, and that released slots can be acquired again.
func TestShares(t *testing.T) {
	s := NewShares(100)
	take := func(namespace string) int {
		n := 0
		for s.Take(namespace) {
			n++
		}
		return n
	}
	a, b, c := take("a"), take("b"), take("c")
	if a != 50 || b != 33 || c == 0 || a+b+c > 100 {
		t.Errorf("the shares are %d, %d, %d", a, b, c)
	}
	for range a {
		s.Give("a")
	}
	if again := take("c"); again == 0 {
		t.Error("nothing is free again")
	}
}
