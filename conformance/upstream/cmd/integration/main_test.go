package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// The edits find their places in the tests of the version that go.mod requires, and leave Go behind.
func TestEdits(t *testing.T) {
	s, err := findSuite(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.edited()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name != "integration" {
			t.Errorf("%s is of package %s", name, file.Name.Name)
		}
	}
	if ours, err := s.ours(); err != nil || len(ours) > 0 {
		t.Errorf("%d of our own files are edited for the newest release, error %v", len(ours), err)
	}
	older := s
	older.version = "v1.36.0"
	ours, err := older.ours()
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range ours {
		if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
	}
	if len(ours) == 0 {
		t.Error("none of our own files is edited for an older release")
	}
	newest := slices.DeleteFunc(slices.Clone(exclusions), func(e exclusion) bool { return e.before != nil })
	if found := notApplicable(s.version, files["job_test.go"]); len(found) != len(newest) {
		t.Errorf("%d exclusions are of tests of %s, want %d", len(found), s.version, len(newest))
	}
}

func TestSummary(t *testing.T) {
	for name, test := range map[string]struct {
		events []event
		failed bool
		want   string
	}{
		"passed": {
			[]event{{Action: "output", Test: "TestA", Output: "    a_test.go:1: fine\n"}, {Action: "pass", Test: "TestA", Elapsed: 2}, {Action: "pass"}},
			false, "  1 of 1 passed, at most   2.0 s  TestA\n1 of 1 functions passed\n",
		},
		"failed once": {
			[]event{
				{Action: "pass", Test: "TestA"}, {Action: "output", Test: "TestA/b", Output: "    a_test.go:7: wrong\n"},
				{Action: "output", Test: "TestA/b", Output: "I0101 noise\n"}, {Action: "fail", Test: "TestA/b"}, {Action: "fail", Test: "TestA", Elapsed: 3}, {Action: "fail"},
			},
			true, "FAIL TestA/b\n    a_test.go:7: wrong\nFAIL TestA\n  1 of 2 passed, at most   3.0 s  TestA\n0 of 1 functions passed\n",
		},
		"crashed": {
			[]event{{Action: "run", Test: "TestA"}, {Action: "output", Test: "TestA", Output: "panic: no\n"}, {Action: "fail"}},
			true, "FAIL TestA\npanic: no\n  0 of 1 passed, at most   0.0 s  TestA\n0 of 1 functions passed\n",
		},
		"goroutines are left": {
			[]event{{Action: "pass", Test: "TestA"}, {Action: "output", Output: `E0101 "EtcdMain goroutine check" err="found leaks"` + "\n"}, {Action: "fail"}},
			true, "FAIL \nE0101 \"EtcdMain goroutine check\" err=\"found leaks\"\n  1 of 1 passed, at most   0.0 s  TestA\n1 of 1 functions passed\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := &summary{out: &out}
			for _, e := range test.events {
				s.add(e)
			}
			if s.write(); out.String() != test.want {
				t.Errorf("got\n%swant\n%s", &out, test.want)
			}
			if s.failed() != test.failed {
				t.Errorf("failed is %t", s.failed())
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{{"-count", "0"}, {"-frob"}, {"tests"}} {
		var stdout, stderr bytes.Buffer
		if code := integration(t.Context(), args, &stdout, &stderr); code != 2 || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q", args, code, &stdout)
		}
	}
}
