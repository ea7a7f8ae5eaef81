package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// Garbage collection is adapted to the heap unless GOGC is set.
func TestLimitGarbage(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for environment, changes := range map[string]bool{"80": false, "": true} {
		debug.SetGCPercent(100)
		limitGarbage(func(string) string { return environment })
		if in := debug.SetGCPercent(100); (in != 100) != changes {
			t.Errorf("with GOGC=%q, the runtime has %d", environment, in)
		}
	}
}

// The memory limit of the runtime is nine tenths of the container's limit, unless GOMEMLIMIT is set.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for name, c := range map[string]struct {
		file, text, environment string
		want                    int64
	}{
		"version 2":               {"memory.max", "1073741824\n", "", 966367641},
		"version 2, no limit":     {"memory.max", "max\n", "", 0},
		"version 1":               {"memory/memory.limit_in_bytes", "1000000000\n", "", 900000000},
		"version 1, no limit":     {"memory/memory.limit_in_bytes", "9223372036854771712\n", "", 0},
		"nonsense":                {"memory.max", "-1\n", "", 0},
		"no cgroup":               {"other", "1000000000\n", "", 0},
		"the environment has one": {"memory.max", "1073741824\n", "500MiB", 0},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			file := filepath.Join(t.TempDir(), "cgroup", c.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			root := filepath.Dir(file)
			if filepath.Base(root) == "memory" {
				root = filepath.Dir(root)
			}
			got := limitMemory(root, func(string) string { return c.environment })
			want := c.want
			if got != want {
				t.Errorf("the limit is %d, want %d", got, want)
			}
			if want == 0 {
				want = math.MaxInt64
			}
			if in := debug.SetMemoryLimit(-1); in != want {
				t.Errorf("the runtime has %d, want %d", in, want)
			}
		})
	}
}
