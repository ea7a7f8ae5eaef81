package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"Größe \"日本\"\tx\n":              "Größe \"日本\"\tx\n",
		"\x1b[31m\r\x00\x7f\u0085\u009b": `\u001b[31m\u000d\u0000\u007f\u0085\u009b`,
		"a\u202eb\u2066\u200b\ufeff\u2028\U000e0041": `a\u202eb\u2066\u200b\ufeff\u2028\udb40\udc41`,
		"\xff\n":                      "\ufffd\n",
		"::error::x":                  `:\u003aerror::x`,
		"a\n \t::add-mask::x\n":       "a\n \t:\\u003aadd-mask::x\n",
		"a ::b: :c\n: :d\n":           "a ::b: :c\n: :d\n",
		":::":                         `:\u003a:`,
		"x ##[add-mask]y":             `x ##\u005badd-mask]y`,
		"###[group] ##vso[task.x]":    `###\u005bgroup] ##vso\u005btask.x]`,
		"# [a] ## b[c] ##a b[c] #[1]": "# [a] ## b[c] ##a b[c] #[1]",
	} {
		for name, write := range map[string]func(w *Writer){
			"at once": func(w *Writer) { w.Write([]byte(text)) },
			"bytewise": func(w *Writer) {
				for i := range len(text) {
					w.Write([]byte{text[i]})
				}
			},
		} {
			var out bytes.Buffer
			write(NewWriter(&out))
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("%q %s (-want +got)\n%s", text, name, diff)
			}
		}
		if Safe(text) != (text == want) {
			t.Errorf("%q: safe: %t", text, Safe(text))
		}
	}
}

func TestWriterFails(t *testing.T) {
	out := NewWriter(iotest.TruncateWriter(brokenWriter{}, 10))
	if _, err := out.Write([]byte("x")); err == nil {
		t.Error("no error")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, iotest.ErrTimeout }

func TestCommand(t *testing.T) {
	var out bytes.Buffer
	c := Command{Name: "error", Properties: []Property{{"file", "a,b:c%\n\x1b.yaml"}, {"line", "3"}}, Text: "100% ::x\n::stop-commands::y ##[z]\r"}
	if err := c.Write(NewWriter(&out)); err != nil {
		t.Fatal(err)
	}
	if err := (Command{Name: "notice", Text: "x"}).Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac%25%0A\\u001b.yaml,line=3::100%25 ::x%0A:\\u003astop-commands::y ##\\u005bz]\\u000d\n::notice::x\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzWriter checks that no output contains commands for a terminal or a CI system, and that the meaning of JSON does not
// change.
func FuzzWriter(f *testing.F) {
	for _, text := range []string{"a\u009b1m", "\n::error::", " \t::x", "##vso[", "#\u202e#[", "\x1b]8;;\x07", "\xe2\x80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, quoted := inert(text), new(bytes.Buffer)
		for line := range strings.Lines(plain) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%q", line)
			}
		}
		if i := strings.IndexFunc(plain, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q", plain[i:])
		}
		encoder := json.NewEncoder(NewWriter(quoted))
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(text); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(quoted.Bytes(), &got); err != nil || got != strings.ToValidUTF8(text, "\ufffd") && strings.ToValidUTF8(text, "") == text {
			t.Errorf("%v: %q of %q", err, got, text)
		}
	})
}
