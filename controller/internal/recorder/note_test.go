package recorder

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNotesAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"short":                                "short",
		strings.Repeat("a", MaxNote):           strings.Repeat("a", MaxNote),
		strings.Repeat("a", MaxNote+1):         strings.Repeat("a", MaxNote-3) + "...",
		strings.Repeat("a", MaxNote-4) + "日本語": strings.Repeat("a", MaxNote-4) + "...",
		strings.Repeat("日", MaxNote):           strings.Repeat("日", (MaxNote-3)/3) + "...",
	} {
		if got := Cut(text); got != want || len(got) > MaxNote || !utf8.ValidString(got) {
			t.Errorf("%q is cut to %q", text, got)
		}
	}
}
