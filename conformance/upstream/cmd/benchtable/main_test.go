package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const output = `goos: linux
BenchmarkMatch/policy=small/containers=1/engine=upstream-2     100  900 ns/op  200 B/op  12 allocs/op
BenchmarkMatch/policy=small/containers=1/engine=upstream-2     100  700 ns/op  200 B/op  12 allocs/op
BenchmarkMatch/policy=small/containers=1/engine=upstream-2     100 9000 ns/op  200 B/op  12 allocs/op
BenchmarkMatch/policy=small/containers=1/engine=podverdict-2   100   40.5 ns/op  0 B/op   0 allocs/op
BenchmarkMatch/policy=small/containers=1/engine=podverdict-2   100   50.5 ns/op  0 B/op   0 allocs/op
BenchmarkMatch/policy=worst/containers=10/engine=podverdict    100 1000 ns/op  0 B/op   0 allocs/op
BenchmarkMatch/policy=worst/containers=10/engine=upstream      100 5000 ns/op  9 B/op   1 allocs/op
BenchmarkMatchCold/policy=cold/containers=1-10/engine=upstream-2    100 3000 ns/op  9 B/op   1 allocs/op
BenchmarkMatchCold/policy=cold/containers=1-10/engine=table-2       100  500 ns/op  0 B/op   0 allocs/op
BenchmarkMatchCold/policy=cold/containers=1-10/engine=podverdict-2  100 1000 ns/op  0 B/op   0 allocs/op
PASS
`

func TestBenchtable(t *testing.T) {
	var out strings.Builder
	if err := benchtable(strings.NewReader(output), &out); err != nil {
		t.Fatal(err)
	}
	want := `| policy | containers | upstream ns | podverdict ns | times faster | table ns | times slower | upstream allocs | podverdict allocs |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| small | 1 | 900 | 45.5 | 19.8 |  |  | 12 | 0 |
| worst | 10 | 5000 | 1000.0 | 5.0 |  |  | 1 | 0 |
| cold | 1-10 | 3000 | 1000.0 | 3.0 | 500.0 | 2.0 | 1 | 0 |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestBenchtableRefuses(t *testing.T) {
	lines := strings.SplitAfter(output, "\n")
	tests := map[string]struct{ in, want string }{
		"nothing":     {"", "no results"},
		"one engine":  {lines[1], "not measured for both engines"},
		"failed runs": {output + "FAIL\n", "the benchmarks failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := benchtable(strings.NewReader(tt.in), &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
