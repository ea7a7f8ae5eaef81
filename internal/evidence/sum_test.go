package evidence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// TestSum checks that the report has the same bytes regardless of the order of the input, of duplicate records, including earlier ones, and
// of where records are stored.
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
		if try%2 == 1 { // too long to hold in memory
			given = append(given, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"large","labels":{"job-name":"job-1"},"annotations":{"a":%q}},"spec":{}}`, strings.Repeat("x", 9<<20)))
		}
		g, err := gathering.Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(strings.Join(given, "\n"))},
			func(*manifest.Set) cel.Fields { return PodFields }, nil)
		if err != nil || g.Long != (try%2 == 1) {
			t.Fatal(g.Long, err)
		}
		policies, err := effective.New(environment, effective.FromFiles(g.Set))
		if err != nil {
			t.Fatal(err)
		}
		sum, err := SumUp(t.Context(), g.Families(), Summing{Rules: snapshot.NewRulebook(environment, policies.For)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{sum.Fold.Report(0, Dimensions()...), sum.Fold, fmt.Sprint(sum.Unjudged, sum.More)})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Fatalf("try %d: %s", try, diff)
		}
		if sum.Fold.Total.Failed != 200 || len(sum.Unjudged) != 5 { // Jobs with rules that list exit code 0
			t.Fatalf("%d failed, %v", sum.Fold.Total.Failed, sum.Unjudged)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSumOfParts checks that each Pod of no Job has its own Outcome, even if the Pods come in parts.
func TestSumOfParts(t *testing.T) {
	var lines []string
	for i := range 12_000 {
		lines = append(lines, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","annotations":{"a":%q}},"status":{"phase":"Failed"}}`,
			i, strings.Repeat("x", 800)))
	}
	g, err := gathering.Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(strings.Join(lines, "\n"))},
		func(*manifest.Set) cel.Fields { return PodFields }, nil)
	if err != nil || !g.Long {
		t.Fatal(g.Long, err)
	}
	defer g.Close()
	families := 0
	counted := func(yield func(gathering.Family, error) bool) {
		for f, err := range g.Families() {
			families++
			if !yield(f, err) {
				return
			}
		}
	}
	sum, err := SumUp(t.Context(), counted, Summing{})
	if total := sum.Fold.Total; err != nil || total.Failed != 12_000 || total.Jobs != 12_000 || families < 2 {
		t.Errorf("%d failed of %d cases, in %d parts: %v", total.Failed, total.Jobs, families, err)
	}
}
