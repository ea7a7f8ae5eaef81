package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLimits checks that input that would multiply time or memory is rejected with an error that names the limit and the position.
func TestLimits(t *testing.T) {
	lists := func(n int) string {
		return strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, n) + strings.Repeat("]}", n)
	}
	lines := func(n int) string {
		var text strings.Builder
		indent := ""
		for range n {
			text.WriteString(indent + "apiVersion: v1\n" + indent + "kind: List\n" + indent + "items:\n" + indent + "-\n")
			indent += "  "
		}
		return text.String() + indent + "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n"
	}

	aliases := func(n int) string {
		return pod("  name: p\n  annotations:\n    a: &a " + strings.Repeat("x", 100_000) + "\n" + repeat(n, "    b%d: *a\n"))
	}
	for name, c := range map[string]struct{ input, want string }{
		"as many Lists as may be":         {lists(maxNested), ""},
		"one more":                        {lists(maxNested + 1), "stdin:1:237: items[0].items[0].items[0].items[0].items[0].kind: a List within 5 others is not read"},
		"in YAML":                         {lines(maxNested), "p"},
		"one more in YAML":                {lines(maxNested + 1), "stdin:22:17: items[0].items[0].items[0].items[0].items[0].kind: a List within 5 others is not read"},
		"brackets in text":                {pod(`  name: "` + strings.Repeat(`[\"{`, 300) + `"`), strings.Repeat(`["{`, 300)},
		"aliases that stand for little":   {aliases(9), "p"},
		"aliases that stand for too much": {aliases(11), "stdin:16:9: its aliases stand for more than 10 times its size"},
		"many documents":                  {strings.Repeat("null\n---\n", 1<<20) + fmt.Sprintf(podYAML, "p"), "p"},
		"many bad documents":              {strings.Repeat("{}", 1<<20), "stdin:1:2001: document 1001: too many errors, the rest of the file was not read"},
		"markers are not documents":       {strings.Repeat("---\n", 1<<20) + fmt.Sprintf(podYAML, "p"), "p"},
	} {
		if testing.Short() && len(c.input) > 1<<20 {
			continue // each case needs about a second
		}
		t.Run(name, func(t *testing.T) {
			got := names(t, Options{Filenames: []string{"-"}, Stdin: strings.NewReader(c.input)})
			if !strings.Contains(got, c.want) {
				t.Errorf("got %.300q\nwant %q", got, c.want)
			}
		})
	}
}

// TestSmallFilesTakeLittleMemory checks that a directory of many small files needs little memory.
func TestSmallFilesTakeLittleMemory(t *testing.T) {
	folder := t.TempDir()
	const files = 200
	for i := range files {
		text := fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: job-%d}\n", i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	set, err := Read(t.Context(), Options{Filenames: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	if got, most := held()-before, int64(files*32<<10); got > most {
		t.Errorf("%d files take %d bytes, want at most %d", files, got, most)
	}
	runtime.KeepAlive(set)
}
