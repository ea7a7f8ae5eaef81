package evidence_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

// Flags that select the datasets of TestCorpus and TestSuggestOnGeneratedFleets.
var (
	firstSeed = flag.Uint64("seed", 1, "the seed of the first fleet")
	fleets    = flag.Int("fleets", 20, "how many fleets there are for each kind of cause")
)

func familiesOf(records []gathering.Record) iter.Seq2[gathering.Family, error] {
	byKey := map[string][]gathering.Record{}
	for _, r := range records {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	return func(yield func(gathering.Family, error) bool) {
		for _, some := range byKey { // in random order
			for f := range gathering.OfRecords(some).Families() {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

func suggest(t *testing.T, records []gathering.Record, s evidence.Suggesting) *evidence.Suggestion {
	t.Helper()
	var err error
	if s.Environment, err = compiler.NewEnvironment(compiler.DefaultVersion); err != nil {
		t.Fatal(err)
	}
	s.Policies = effective.FromFiles(&manifest.Set{})
	made, err := s.Suggest(t.Context(), familiesOf(records))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestSuggestOnGeneratedFleets checks that the rule for the planted cause is suggested in 90 % of datasets, that nothing is
// suggested in 95 % of those with noise only, and that no rule fails a Job that completed.
func TestSuggestOnGeneratedFleets(t *testing.T) {
	for _, test := range []struct {
		plant  string
		custom bool
	}{{"code", false}, {"disruption", false}, {"image", true}, {"node", true}, {"", false}, {"", true}} {
		t.Run(cmp.Or(test.plant, "noise"), func(t *testing.T) {
			n, right := *fleets, 0
			if testing.Short() {
				n = 4
			}
			for i := range n {
				var o dataset.Options
				if test.plant != "" {
					o.Plant = []string{test.plant}
				}
				fleet := dataset.Generate(*firstSeed+uint64(i), o)
				made := suggest(t, fleet.Records, evidence.Suggesting{Custom: test.custom})
				if made.Effect.Lost > 0 {
					t.Errorf("fleet %d: %d that completed would have failed", i, made.Effect.Lost)
				}
				if fits(made, fleet) {
					right++
				}
			}
			t.Logf("%d of %d", right, n)
			if bar := map[bool]int{true: 95, false: 90}[test.plant == ""]; 100*right < bar*n {
				t.Errorf("right in %d of %d fleets, want %d %%", right, n, bar)
			}
		})
	}
}

// fits reports whether the suggestion has a rule for the planted cause, or no rule if nothing was planted.
func fits(made *evidence.Suggestion, fleet dataset.Fleet) bool {
	if len(fleet.Planted) == 0 {
		return len(made.Rules) == 0
	}
	planted := fleet.Planted[0]
	return slices.ContainsFunc(made.Rules, func(r evidence.SuggestedRule) bool {
		switch r.About {
		case evidence.OnCode:
			return planted.Kind == "code" && strconv.Itoa(int(r.Code)) == planted.Code
		case evidence.OnMemory:
			return planted.Kind == "image"
		case evidence.OnNode:
			return planted.Kind == "node" && r.Node == planted.Value
		}
		return planted.Kind == "disruption"
	})
}

// TestSuggestDoesNotDependOnOrder checks that order and duplicates of the input do not change the suggestion.
func TestSuggestDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	records := dataset.Generate(1, dataset.Options{Pods: 1500, Plant: []string{"code", "disruption", "image", "node"}}).Records
	for _, custom := range []bool{false, true} {
		var want []byte
		for range 3 {
			got, err := json.Marshal(suggest(t, records, evidence.Suggesting{Custom: custom}))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if diff := gocmp.Diff(string(want), string(got)); diff != "" {
				t.Fatal(diff)
			}
			records = slices.Concat(records, records[:random.IntN(len(records))])
			random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
	}
}
