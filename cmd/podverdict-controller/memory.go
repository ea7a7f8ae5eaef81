package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/controller/garbage"
)

// memoryShare is the fraction of the container's memory limit that becomes the Go runtime's limit. The rest is for memory
// that the runtime does not count.
const memoryShare = 0.9

// limitMemory sets the Go runtime's memory limit based on the limit of the container, unless GOMEMLIMIT is set. It returns
// the limit in bytes, or 0 for no limit.
func limitMemory(cgroups string, environment func(string) string) int64 {
	if environment("GOMEMLIMIT") != "" {
		return 0
	}
	limit := containerMemory(cgroups)
	if limit == 0 {
		return 0
	}
	limit = int64(float64(limit) * memoryShare)
	debug.SetMemoryLimit(limit)
	return limit
}

// limitGarbage adapts garbage collection to the heap, unless GOGC is set. Call it after limitMemory.
func limitGarbage(environment func(string) string) {
	if environment("GOGC") == "" {
		garbage.Limit()
	}
}

// containerMemory returns the memory limit in bytes of this process's cgroup (version 2 or 1) inside a container, or 0 for
// none.
func containerMemory(cgroups string) int64 {
	for _, file := range []string{"memory.max", filepath.Join("memory", "memory.limit_in_bytes")} {
		text, err := os.ReadFile(filepath.Join(cgroups, file))
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || limit <= 0 || limit >= math.MaxInt64/2 { // "max", or its equivalent in version 1
			return 0
		}
		return limit
	}
	return 0
}
