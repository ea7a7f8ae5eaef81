package gathering

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/internal/manifest"
)

// someObjects returns 20 Jobs and 200 Pods, one a line, some without a namespace, and some twice.
func someObjects() []string {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-%d"},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`, i))
	}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","labels":{"job-name":"job-%d"}},"spec":{},"status":{"phase":"Failed"}}`, i, i%25))
	}
	return append(lines, lines[3:40]...)
}

// TestFamilies: families are the same whether records lie in memory or in a file, and whatever their order. The second reading is
// like the first one.
func TestFamilies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := someObjects()
	var want string
	for try := range 6 {
		dir := t.TempDir()
		g := New(dir)
		if try%2 == 1 {
			g.limit = 1 + random.IntN(5000)
		}
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		file := filepath.Join(dir, "in.json")
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		pods := 0
		set, err := Read(t.Context(), manifest.Options{Filenames: []string{file}, Namespace: "batch"}, g, func(n int) { pods += n })
		if err != nil || len(set.Jobs)+len(set.Pods) > 0 || pods < 200 {
			t.Fatalf("%d Jobs and %d Pods are left, %d came: %v", len(set.Jobs), len(set.Pods), pods, err)
		}
		first, second := text(t, g), text(t, g)
		if want == "" {
			want = first
		}
		if diff := cmp.Diff(want, first); diff != "" || first != second {
			t.Fatalf("try %d, limit %d: %s", try, g.limit, diff)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("Close leaves %v, %v", left, err)
		}
	}
	if n := strings.Count(want, "\n"); n != 25 {
		t.Errorf("%d families, want 25", n)
	}
}

func text(t *testing.T, g *Gathering) string {
	t.Helper()
	var out strings.Builder
	for f, err := range g.Families() {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// TestNoRoom: a file that cannot be made is an error.
func TestNoRoom(t *testing.T) {
	g := New(filepath.Join(t.TempDir(), "missing"))
	g.limit = 1
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, []byte(strings.Join(someObjects(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), manifest.Options{Filenames: []string{file}}, g, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
