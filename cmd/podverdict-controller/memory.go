package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryShare is how much of the container's memory the Go runtime takes before it collects garbage all the time; the rest is
// for what it does not count.
const memoryShare = 0.9

// limitMemory has the garbage collector keep within the memory limit of the container, unless GOMEMLIMIT says another one. It
// returns the limit in bytes, 0 for none.
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

// gcPercent is how much garbage there may be beside what is in use, in percent of it, before it is collected, unless GOGC says
// another share. Most of what is in use are caches, which stay: with Go's 100, as much again would be garbage.
const gcPercent = 50

func limitGarbage(environment func(string) string) {
	if environment("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// containerMemory returns the limit of this process's cgroup as a container sees it, version 2 or 1, or 0 for none.
func containerMemory(cgroups string) int64 {
	for _, file := range []string{"memory.max", filepath.Join("memory", "memory.limit_in_bytes")} {
		text, err := os.ReadFile(filepath.Join(cgroups, file))
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || limit <= 0 || limit >= math.MaxInt64/2 { // "max", or what version 1 has for it
			return 0
		}
		return limit
	}
	return 0
}
