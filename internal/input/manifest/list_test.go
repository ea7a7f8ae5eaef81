package manifest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestLongLists checks that Lists whose items are separate documents are read like others, and that messages have the same positions.
func TestLongLists(t *testing.T) {
	filler := strings.Repeat("x", 1000)
	const n = 1100 // more than longList
	jsonItems := func(item string) string {
		return strings.TrimSuffix(repeat(n, strings.ReplaceAll(item, "FILLER", filler)+",\n"), ",\n")
	}
	yamlItems := repeat(n, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p%d\n    annotations:\n      text: "+filler+"\n")
	const typed = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","annotations":{"text":"FILLER"}}}`
	const untyped = `{"metadata":{"name":"p%d","annotations":{"text":"FILLER"}}}`
	const service = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"p%d","annotations":{"text":"FILLER"}}}`
	bad := func(item string, line int) string {
		return "stdin:" + fmt.Sprint(line) + item + "items[1100].metadata.nam: unknown field, did you mean name?"
	}
	for name, c := range map[string]struct {
		input string
		pods  int
		err   string
	}{
		"kubectl get":    {`{"apiVersion":"v1","items":[` + jsonItems(typed) + `],"kind":"List","metadata":{"resourceVersion":""}}`, n, ""},
		"raw":            {`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` + jsonItems(untyped) + `]}`, n, ""},
		"raw, by name":   {`{"apiVersion":"v1","items":[` + jsonItems(untyped) + `],"kind":"PodList"}`, n, ""},
		"other kinds":    {`{"apiVersion":"v1","items":[` + jsonItems(service) + `],"kind":"List"}`, 0, ""},
		"no kind at all": {`{"items":[` + jsonItems(untyped) + `]}`, 0, "stdin:1:1: kind: is required"},
		"nested":         {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + jsonItems(typed) + `]}]}`, n, ""},
		"yaml":           {"apiVersion: v1\nitems:\n" + yamlItems + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", n, ""},
		"two":            {"apiVersion: v1\nitems:\n" + yamlItems + "kind: List\n---\n" + fmt.Sprintf(podYAML, "last"), n + 1, ""},
		"a bad item": {
			`{"apiVersion":"v1","items":[` + jsonItems(typed) + ",\n" + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","nam":"q"}}],"kind":"List"}`,
			n, bad(":56: ", n+1),
		},
		"a bad item in yaml": {
			"apiVersion: v1\nitems:\n" + yamlItems + "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: q\n    nam: q\nkind: List\n",
			n, bad(":5: ", 2+6*n+5),
		},
		"a bad List": {`{"apiVersion":"v1","itms":[],"items":[` + jsonItems(typed) + `],"kind":"List"}`, n, "stdin:1:20: itms: unknown field, did you mean items?"},
		"no end":     {`{"apiVersion":"v1","kind":"List","items":[` + jsonItems(typed), n, "stdin:1:42: invalid JSON: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(c.input)})
			if len(set.Pods) != c.pods {
				t.Errorf("%d Pods, want %d", len(set.Pods), c.pods)
			}
			switch errs := EachError(err); {
			case c.err == "" && err != nil, c.err != "" && (len(errs) == 0 || errs[0].Error() != c.err):
				t.Errorf("got %.300v\nwant %s", err, c.err)
			}
		})
	}
}

func TestCompressed(t *testing.T) {
	text := []byte(fmt.Sprintf(podYAML, "p"))
	zipped, zstandard := &bytes.Buffer{}, &bytes.Buffer{}
	encoder, err := zstd.NewWriter(zstandard)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(zipped), encoder} {
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		input []byte
		want  string
	}{
		"gzip": {zipped.Bytes(), "p"}, "zstd": {zstandard.Bytes(), "p"},
		"cut gzip": {zipped.Bytes()[:20], "stdin: cannot read: unexpected EOF"},
		"cut zstd": {zstandard.Bytes()[:20], "stdin: cannot read: unexpected EOF"},
		"no gzip":  {[]byte("\x1f\x8babcdefghijkl"), "stdin: cannot read: gzip: invalid header"},
	} {
		if got := names(t, Options{Filenames: []string{"-"}, Stdin: bytes.NewReader(c.input)}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
