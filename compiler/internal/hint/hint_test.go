package hint

import "testing"

func TestName(t *testing.T) {
	names := []string{"backoffLimit", "completions", "max", "min"}
	for wrong, want := range map[string]string{
		"backofLimit":  "backoffLimit",
		"BACKOFFLIMIT": "backoffLimit",
		"mox":          "max",
		"mix":          "max", // and not min, which is as near
		"parallelism":  "",
		"m":            "max",
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
	if got := Name("max", nil); got != "" {
		t.Errorf("got %q of no names", got)
	}
}

func TestCaret(t *testing.T) {
	if got, want := Caret("a.b", 2), " | a.b\n | ..^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
