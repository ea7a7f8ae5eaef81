package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is what go test -json tells.
type event struct {
	Action  string  `json:"Action"`
	Test    string  `json:"Test"`
	Output  string  `json:"Output"`
	Elapsed float64 `json:"Elapsed"`
}

// summary is what became of the tests.
type summary struct {
	out      io.Writer
	excluded []exclusion
	results  map[string]*result // of functions, by name
	order    []string
	output   map[string][]string // of a run of a test that has not ended, the lines that it reported
	running  map[string]bool     // that have not ended
	leaked   bool                // the process failed, and no test did
}

// result is that of the runs of a test function.
type result struct {
	passed, failed int
	longest        float64 // in seconds
}

// add takes an event, and prints the reports of a test that has failed.
func (s *summary) add(e event) {
	if s.results == nil {
		s.results, s.output, s.running = map[string]*result{}, map[string][]string{}, map[string]bool{}
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
		return
	case "output":
		if strings.Contains(e.Output, "_test.go:") || strings.HasPrefix(e.Output, "panic") || strings.Contains(e.Output, "goroutine check") {
			s.output[e.Test] = append(s.output[e.Test], e.Output)
		}
		return
	case "run":
		s.running[e.Test] = true
		return
	case "pass", "fail":
		delete(s.running, e.Test)
	default:
		return
	}
	if e.Action == "fail" && (e.Test != "" || len(s.output[""]) > 0) {
		fmt.Fprintf(s.out, "FAIL %s\n%s", e.Test, strings.Join(s.output[e.Test], ""))
	}
	delete(s.output, e.Test)
	switch {
	case e.Test == "":
		for _, test := range slices.Sorted(maps.Keys(s.running)) { // the process has crashed in them
			s.add(event{Action: "fail", Test: test})
		}
		s.leaked = e.Action == "fail" && !s.failed()
	case !strings.Contains(e.Test, "/"):
		s.count(e)
	}
}

func (s *summary) count(e event) {
	r := s.results[e.Test]
	if r == nil {
		r = &result{}
		s.results[e.Test] = r
		s.order = append(s.order, e.Test)
	}
	r.longest = max(r.longest, e.Elapsed)
	if e.Action == "pass" {
		r.passed++
	} else {
		r.failed++
	}
}

func (s *summary) failed() bool {
	return s.leaked || slices.ContainsFunc(s.order, func(test string) bool { return s.results[test].failed > 0 })
}

// write prints a table of the functions.
func (s *summary) write() {
	passed := 0
	for _, test := range s.order {
		r := s.results[test]
		if r.failed == 0 {
			passed++
		}
		fmt.Fprintf(s.out, "%3d of %d passed, at most %5.1f s  %s\n", r.passed, r.passed+r.failed, r.longest, test)
	}
	if len(s.excluded) > 0 {
		fmt.Fprintln(s.out, "not applicable:")
		for _, excluded := range s.excluded {
			fmt.Fprintf(s.out, "  %s: %s\n", strings.NewReplacer("^", "", "$", "").Replace(excluded.test), excluded.reason)
		}
	}
	fmt.Fprintf(s.out, "%d of %d functions passed\n", passed, len(s.order))
}
