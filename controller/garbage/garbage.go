// Package garbage tells the Go runtime when to collect the controller's garbage: seldom while the heap is small, because a
// collection costs the same however little it frees, and earlier than usual when the heap is large.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// usual is what GOGC is for a large heap. Most memory holds caches, which stay in use: with Go's default of 100, as
	// much again would be garbage.
	usual = 50

	// floor is the size in bytes to which the heap grows before garbage is collected. If the memory limit is small, it is a
	// share of that instead.
	floor      = 32 << 20
	floorShare = 4

	// smallest is the heap in bytes that the runtime assumes at least when it applies the percentage.
	smallest = 4 << 20
)

// Limit sets the runtime's percentage of garbage, and sets it again after each collection. Call it once in a process, after
// the memory limit is set.
func Limit() { adapt(0) }

// adapt sets the percentage if it differs from the last one, and does so again after the next collection.
func adapt(last int) {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(read)
	limit := debug.SetMemoryLimit(-1)
	now := percentage(read[0].Value.Uint64(), read[1].Value.Uint64()+read[2].Value.Uint64(), uint64(max(0, limit)))
	if now != last {
		debug.SetGCPercent(now)
	}
	runtime.AddCleanup(new([16]byte), adapt, now)
}

// percentage returns what GOGC has to be for a heap of which the last collection left some bytes live. Roots are the stacks
// and global variables, to which the runtime applies the percentage, too.
func percentage(live, roots, limit uint64) int {
	goal, live := min(floor, limit/floorShare), max(live, smallest)
	if live >= goal {
		return usual
	}
	return max(usual, int(100*(goal-live)/(live+roots))) //nolint:gosec // at most 700
}
