package gathering

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// someObjects returns 20 Jobs and 200 Pods, one a line, some without a namespace, and some twice.
func someObjects() []string {
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-%d"},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`, i))
	}
	lines = append(lines, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"job-"},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`)
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

// TestSum: the report has the same bytes whatever the order of the input, whether records are there twice, as an earlier snapshot too,
// and wherever they lie.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-%d","uid":"u%d"},"spec":{"podFailurePolicy":{"rules":[
			{"action":"FailJob","onExitCodes":{"operator":"In","values":[%d]}}]},"template":{"spec":{"restartPolicy":"Never"}}}}`, i, i, i%4))
	}
	var snapshots []string
	for i := range 200 {
		const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","uid":"p%d","labels":{"job-name":"job-%d"}},"spec":{"nodeName":"node-%d",
			"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"%dm"}}}]},"status":{"startTime":"2026-11-01T00:%02d:00Z",%s}}`
		const failed = `"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":%d,"finishedAt":"2026-11-01T01:00:00Z"}}}]`
		lines = append(lines, fmt.Sprintf(pod, i, i, i%25, i%7, i, i%60, fmt.Sprintf(failed, i%3+1)))
		snapshots = append(snapshots, fmt.Sprintf(pod, i, i, i%25, i%7, i, i%60, `"phase":"Running"`))
	}
	var want string
	for try := range 8 {
		given := slices.Clone(lines)
		if try > 1 {
			given = append(append(given, lines[:random.IntN(len(lines))]...), snapshots[random.IntN(len(snapshots)):]...)
			random.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
		}
		g := New(t.TempDir())
		if try%2 == 1 {
			g.limit = 1 + random.IntN(5000)
		}
		set, err := Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(strings.Join(given, "\n"))}, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		policies, err := effective.New(environment, effective.FromFiles(set))
		if err != nil {
			t.Fatal(err)
		}
		sum, err := g.Sum(t.Context(), Summing{Rules: snapshot.NewRulebook(environment, policies.For)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{sum.Fold.Report(0, evidence.Dimensions()...), sum.Fold, fmt.Sprint(sum.Unjudged, sum.More)})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Fatalf("try %d: %s", try, diff)
		}
		if sum.Fold.Total.Failed != 200 || len(sum.Unjudged) != 5 { // those that list exit code 0
			t.Fatalf("%d failed, %v", sum.Fold.Total.Failed, sum.Unjudged)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
