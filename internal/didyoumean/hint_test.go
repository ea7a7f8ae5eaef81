package didyoumean

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	names := []string{"backoffLimit", "completions", "max", "min"}
	for wrong, want := range map[string]string{
		"backofLimit":  "backoffLimit",
		"BACKOFFLIMIT": "backoffLimit",
		"mox":          "max",
		"mix":          "max", // min is equally similar, but later in the alphabet
		"parallelism":  "",
		"m":            "", // too short to suggest a name
		"amx":          "max",
		"completeness": "completions",
		"":             "",
	} {
		if got := Name(wrong, names); got != want {
			t.Errorf("%q: got %q, want %q", wrong, got, want)
		}
	}
	if got := Name("[", []string{"P1"}); got != "" {
		t.Errorf("got %q, which has nothing of what was written", got)
	}
	if got := Name("oom", []string{"job", "pod", "attempt"}); got != "" {
		t.Errorf("got %q, which has one of three letters", got)
	}
	for wrong, want := range map[string]string{"state": "status", "fase": "phase"} {
		if got := Name(wrong, []string{"status", "phase"}); got != want {
			t.Errorf("%q: got %q, want %q", wrong, got, want)
		}
	}
	if got := Name("mix", []string{"min", "max"}); got != "max" {
		t.Errorf("got %q, which is not the first in the alphabet", got)
	}
	if long := strings.Repeat("x", 1<<20); Name(long, []string{long[1:]}) != "" {
		t.Error("long names are compared")
	}
	if got := Name("max", nil); got != "" {
		t.Errorf("got %q of no names", got)
	}
}

func TestCaret(t *testing.T) {
	if got, want := Caret("a.b", 2), " | a.b\n | ..^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNames(t *testing.T) {
	many := make([]string, maxNames+1)
	for _, test := range []struct {
		wrong  string
		names  []string
		prefix string
		want   string
	}{
		{"om", []string{"early", "oom"}, "variables.", `did you mean "variables.oom"?`},
		{"xyz", []string{"early", "oom"}, "variables.", "there are variables.early, variables.oom"},
		{"xyz", nil, "", ""},
		{"xyz", many, "", ""},
	} {
		if got := Names(test.wrong, test.names, test.prefix); got != test.want {
			t.Errorf("%q: got %q, want %q", test.wrong, got, test.want)
		}
	}
}
