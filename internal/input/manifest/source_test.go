package manifest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const podYAML = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"

// names returns the names of the Pods that are read, or the error.
func names(t *testing.T, o Options) string {
	t.Helper()
	set, err := Read(t.Context(), o)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, pod := range set.Pods {
		all = append(all, pod.Object.Name)
	}
	return strings.Join(all, " ")
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSources(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, pod := range map[string]string{
		"dir/c.yaml": "c", "dir/a.yml": "a", "dir/sub/d.yaml": "d", "dir/notes.txt": "notes", "odd.txt": "odd",
	} {
		write(t, path, fmt.Sprintf(podYAML, pod))
	}
	write(t, "dir/b.json", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}`)
	write(t, "bom.yaml", "\xef\xbb\xbf"+fmt.Sprintf(podYAML, "bom"))
	write(t, "bytes.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: \"p\xc3\x28\"}\n")
	write(t, "none/readme.md", "")
	write(t, "none/below/e.yaml", fmt.Sprintf(podYAML, "e"))

	for _, test := range []struct {
		name string
		o    Options
		want string
	}{
		{"nothing", Options{}, errNoFilenames.Error()},
		{"directory", Options{Filenames: []string{"dir"}}, "a b c"},
		{"directory and below", Options{Filenames: []string{"dir"}, Recursive: true}, "a b c d"},
		{"file of any extension", Options{Filenames: []string{"odd.txt"}}, "odd"},
		{"byte order mark", Options{Filenames: []string{"bom.yaml"}}, "bom"},
		{"stdin", Options{Filenames: []string{"-", "odd.txt"}, Stdin: strings.NewReader(fmt.Sprintf(podYAML, "in"))}, "in odd"},
		{"stdin twice", Options{Filenames: []string{"-", "-"}, Stdin: strings.NewReader(fmt.Sprintf(podYAML, "in"))}, errStdinTwice.Error()},
		{"empty stdin", Options{Filenames: []string{"-"}, Stdin: strings.NewReader("")}, "stdin: empty: no Job, no Pod and no policy in it"},
		{"missing", Options{Filenames: []string{"missing.yaml"}}, "missing.yaml: cannot read: no such file or directory"},
		{"no manifests", Options{Filenames: []string{"none"}}, "none: no .yaml, .yml or .json files in this directory; -R looks below as well"},
		{"manifests below", Options{Filenames: []string{"none"}, Recursive: true}, "e"},
		{"invalid UTF-8", Options{Filenames: []string{"bytes.yaml"}}, "bytes.yaml:3:20: invalid UTF-8: byte 0xc3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, names(t, test.o)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestUnreadableDirectory checks that the error names an unreadable directory, and that later directories are still read.
func TestUnreadableDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "dir/z/pod.yaml", fmt.Sprintf(podYAML, "z"))
	root, err := os.OpenRoot("dir")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	long := strings.Repeat("a", 200)
	if err := root.MkdirAll(strings.Repeat(long+"/", 30), 0o755); err != nil { // longer than the maximum length of a path
		t.Fatal(err)
	}
	set, err := Read(t.Context(), Options{Filenames: []string{"dir"}, Recursive: true})
	want := "^dir(/" + long + ")+: cannot read: file name too long$"
	if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if len(set.Pods) != 1 {
		t.Errorf("%d Pods were read", len(set.Pods))
	}
}

func TestURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pod.yaml" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, podYAML, "remote")
	}))
	defer server.Close()
	if got := names(t, Options{Filenames: []string{server.URL + "/pod.yaml"}}); got != "remote" {
		t.Errorf("got %q", got)
	}
	want := server.URL + "/gone.yaml: cannot read: the server answered 404 Not Found"
	if got := names(t, Options{Filenames: []string{server.URL + "/gone.yaml"}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHostile reads input that would harm a naive reader; each must yield an error with a position.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	for name, input := range map[string]string{
		"alias bomb":   bomb,
		"alias cycle":  "a: &a [*a]\n",
		"deep value":   `{"apiVersion":"v1","kind":"Pod","metadata":{"name":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}}`,
		"long line":    "kind: " + strings.Repeat("x", 1_000_000),
		"control code": "kind: \x01\n",
		"tag":          "!!binary x: y",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input)})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "stdin:") {
				t.Errorf("no place: %.200s", err)
			}
			for _, err := range EachError(err) {
				if placed, ok := errors.AsType[*Error](err); ok && len(placed.Excerpt()) > 2000 {
					t.Errorf("an excerpt of %d bytes", len(placed.Excerpt()))
				}
			}
		})
	}
}

func TestErrorsAreBounded(t *testing.T) {
	item := "- {apiVersion: v1, kind: Pod, metadata: {name: p}, Spec: {}}\n"
	for name, input := range map[string]string{
		"items":         "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat(item, 2_000),
		"repeated keys": strings.Repeat("a: b\n", 2_000),
		"large":         strings.Repeat("a: "+strings.Repeat("b", 1021)+"\n", maxExamined>>10),
	} {
		_, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input)})
		if n := len(EachError(err)); n < maxErrors || n > maxErrors+1 {
			t.Errorf("%s: %d errors", name, n)
		}
	}
}
