package documents

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestSplit checks that the documents are the same for input in one piece and byte by byte, and with and without splitting Lists.
func TestSplit(t *testing.T) {
	const item = `{"kind":"Pod","text":"\\\"]}\\","items":[{}]}`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":          {" \n# comment\n---\n...\n", nil},
		"yaml":             {"a: b\n---\n# c\nd: e\n", []string{"1:1 a: b\n", "3:1 # c\nd: e\n"}},
		"comments":         {"# a\n\n# b\nc: d\n# e\n---\n# f\n---\n", []string{"1:1 # a\n\n# b\nc: d\n# e\n"}},
		"same line":        {"--- {a: b}\n", []string{"1:1 --- {a: b}\n"}},
		"dots":             {"a: b\n...\nc: d\n", []string{"1:1 a: b\n", "3:1 c: d\n"}},
		"indented":         {"  a: b\n  c: d\n", []string{"1:1   a: b\n  c: d\n"}},
		"no end of line":   {"a: b\n--- \nc: d", []string{"1:1 a: b\n", "3:1 c: d"}},
		"nearly a marker":  {"a: |\n ---\n--- b\n", []string{"1:1 a: |\n ---\n", "3:1 --- b\n"}},
		"json":             {`{"a":1} {"b":"}"}` + "\n" + ` {"c":[-` + "\n-1]}", []string{`1:1 {"a":1}`, `1:9 {"b":"}"}`, `2:2 {"c":[-` + "\n-1]}"}},
		"json in yaml":     {"a: b\n---\n{\"a\":1}\n---\nc: d\n", []string{"1:1 a: b\n", `3:1 {"a":1}`, "5:1 c: d\n"}},
		"json without end": {`{"a":[{}` + "\n---\na: b\n", []string{`1:1 {"a":[{}` + "\n", "3:1 a: b\n"}},
		"flow style":       {"{a: b}\n", []string{"1:1 {a: b}\n"}},
		"json list": {
			"\n" + `{"apiVersion":"v1","items":[` + item + ",\n " + item + `],"kind":"List"}`,
			[]string{"2:29 items[0] " + item, "3:2 items[1] " + item, `2:1 {"apiVersion":"v1","items":[],"kind":"List"}`},
		},
		"json list without end": {`{"items":[` + item + `,{"a":`, []string{"1:11 items[0] " + item, `1:1 {"items":[{"a":`}},
		"no list":               {`{"kind":"Other","items":[{}]}`, []string{`1:1 {"kind":"Other","items":[{}]}`}},
		"yaml list": {
			"apiVersion: v1\nitems:\n- kind: b\n\n  c:\n  - d\n# comment\n- a: |\n    - x\nkind: List\n---\na: b\n",
			[]string{"3:1 items[0]   kind: b\n\n  c:\n  - d\n# comment\n", "8:1 items[1]   a: |\n    - x\n", "1:1 apiVersion: v1\nitems: []\nkind: List\n", "12:1 a: b\n"},
		},
		"yaml list, indented": {
			"kind: List\nitems:\n  - a: b\n  - a: c\n", []string{"3:1 items[0]     a: b\n", "4:1 items[1]     a: c\n", "1:1 kind: List\nitems: []\n"},
		},
		"no kinds yet":         {`{"items":[{"a":"b"}],"kind":"BList"}`, []string{`1:1 {"items":[{"a":"b"}],"kind":"BList"}`}},
		"no kinds yet in yaml": {"items:\n- a: b\nkind: BList\n", []string{"1:1 items:\n- a: b\nkind: BList\n"}},
	} {
		for reader, in := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "bytes": iotest.OneByteReader(strings.NewReader(c.text)),
			"end with data": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			var got []string
			err := Split(in, Options{Limit: 1 << 20, Long: 1}, func(d Document) bool {
				item := ""
				if d.List != nil && d.Item != Rest {
					item = fmt.Sprintf("items[%d] ", d.Item)
				}
				got = append(got, fmt.Sprintf("%d:%d %s%s", d.Line, d.Column+1, item, d.Text))
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: (-want +got)\n%s", name, reader, diff)
			}
		}
	}
}

// TestLines checks that a value that fills a line ends there, even if its braces do not balance.
func TestLines(t *testing.T) {
	const text = `{"a":{}}` + "\n" + `{"b":1}  {"c":"}{"}` + "\n" + `{"d":{"e":1}` + "\n" + `{"f":1}` + "\r\n" + `{"g":{"h":1}` + "\n}\n" + `{"i":1}` + "\n"
	want := []string{`1:1 {"a":{}}`, `2:1 {"b":1}`, `2:10 {"c":"}{"}`, `3:1 {"d":{"e":1}`, `4:1 {"f":1}`, `5:1 {"g":{"h":1}` + "\n}", `7:1 {"i":1}`}
	for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		for _, long := range []int{0, len(text)} {
			var got []string
			err := Split(in, Options{Limit: 1 << 20, Long: long}, func(d Document) bool {
				got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column+1, d.Text))
				return true
			})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			in = strings.NewReader(text)
		}
	}
}

// TestLimit checks that the limit applies to each document, not to all of them together.
func TestLimit(t *testing.T) {
	documents := 0
	err := Split(strings.NewReader("a: b\n---\nc: d\n---\ntoo: long\n"), Options{Limit: 9}, func(Document) bool { documents++; return true })
	if long, ok := errors.AsType[*LimitError](err); !ok || long.Place != (Place{Line: 5}) || documents != 2 {
		t.Errorf("%d documents, then %v", documents, err)
	}
}
