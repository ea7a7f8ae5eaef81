package garbage

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

const mebibyte = 1 << 20

func TestPercentage(t *testing.T) {
	for name, c := range map[string]struct {
		live, roots, limit uint64
		want               int
	}{
		"before the first collection":           {0, 0, math.MaxInt64, 700},
		"less than the runtime's smallest":      {mebibyte, 0, math.MaxInt64, 700},
		"a small heap":                          {8 * mebibyte, 0, math.MaxInt64, 300},
		"roots count":                           {8 * mebibyte, 2 * mebibyte, math.MaxInt64, 240},
		"just below what is collected as usual": {21 * mebibyte, 0, math.MaxInt64, 52},
		"just above":                            {22 * mebibyte, 0, math.MaxInt64, 50},
		"as large as the floor":                 {32 * mebibyte, 0, math.MaxInt64, 50},
		"a large heap":                          {1024 * mebibyte, 8 * mebibyte, math.MaxInt64, 50},
		"a limit at which the floor is whole":   {8 * mebibyte, 0, 128 * mebibyte, 300},
		"a small limit":                         {8 * mebibyte, 0, 64 * mebibyte, 100},
		"a limit below the runtime's smallest":  {0, 0, mebibyte, 50},
		"no memory":                             {0, 0, 0, 50},
	} {
		if got := percentage(c.live, c.roots, c.limit); got != c.want {
			t.Errorf("%s: GOGC is %d, want %d", name, got, c.want)
		}
	}
}

// The heap never grows beyond the floor, or beyond the usual percentage if that is more.
func TestPercentageKeepsTheGoal(t *testing.T) {
	for live := uint64(0); live < 128*mebibyte; live += mebibyte / 4 {
		for _, limit := range []uint64{16 * mebibyte, 64 * mebibyte, math.MaxInt64} {
			percent := uint64(percentage(live, 0, limit))
			goal := max(live+live*percent/100, smallest*percent/100)
			if most := max(min(floor, limit/4), max(live, smallest)*3/2); goal > most {
				t.Fatalf("with %d bytes live and a limit of %d, the heap grows to %d, want at most %d", live, limit, goal, most)
			}
		}
	}
}

// Limit adjusts the percentage to the heap after it has grown and after it has shrunk.
func TestLimit(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	Limit()
	large := make([]byte, 64*mebibyte)
	await(t, "with a large heap", func(percent int) bool { return percent == usual })
	runtime.KeepAlive(large)
	await(t, "with a small heap", func(percent int) bool { return percent > 3*usual })
}

// await collects garbage until the current percentage is as wanted. It has to set the percentage briefly in order to read it.
func await(t *testing.T, when string, wanted func(percent int) bool) {
	t.Helper()
	percent := 0
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		percent = debug.SetGCPercent(100)
		if debug.SetGCPercent(percent); wanted(percent) {
			return
		}
	}
	t.Fatalf("%s, GOGC stays %d", when, percent)
}
