// Package garbage adapts the Go runtime's garbage collection to the controller: rare while the heap is small, because a
// collection costs the same even if it frees little, and earlier than usual when the heap is large.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// usual is the GOGC value for a large heap. Most memory holds caches, which stay in use: with Go's default of 100, an
	// equal amount would be garbage.
	usual = 50

	// floor is the heap size in bytes below which garbage is not collected. If the memory limit is small, the floor is
	// 1/floorShare of the limit.
	floor      = 32 << 20
	floorShare = 4

	// smallest is the minimum heap size in bytes to which the runtime applies the percentage.
	smallest = 4 << 20
)

// Limit sets the runtime's GOGC percentage, and adjusts it after each collection. Call it once per process, after the memory
// limit is set.
func Limit() { adapt(0) }

// adapt sets the percentage if it differs from the last one, and schedules itself after the next collection.
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

// percentage returns the GOGC value for a heap with the given live bytes after the last collection. Roots are the bytes of
// stacks and global variables, which the runtime includes when it applies the percentage.
func percentage(live, roots, limit uint64) int {
	goal, live := min(floor, limit/floorShare), max(live, smallest)
	if live >= goal {
		return usual
	}
	return max(usual, int(100*(goal-live)/(live+roots))) //nolint:gosec // at most 700
}
