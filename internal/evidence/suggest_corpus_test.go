package evidence_test

import (
	"fmt"
	"iter"
	"os"
	"strconv"
	"testing"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/fleets"
	"github.com/podverdict/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/internal/manifest"
)

func familiesOf(records []evidence.Record) iter.Seq2[evidence.Family, error] {
	byKey := map[string][]evidence.Record{}
	for _, r := range records {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	var all []evidence.Family
	for _, some := range byKey {
		all = append(all, evidence.Families(some)...)
	}
	return func(yield func(evidence.Family, error) bool) {
		for _, f := range all {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func suggest(t *testing.T, records []evidence.Record, custom bool) *evidence.Suggestion {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	s := evidence.Suggesting{Custom: custom, Environment: environment, Policies: inforce.FromFiles(&manifest.Set{})}
	made, err := s.Suggest(t.Context(), familiesOf(records))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestSuggestOnGeneratedFleets: the rule for what was planted is suggested in 90 % of fleets, nothing in 95 % of those of noise alone, and never a rule that fails a Job that completed.
func TestSuggestOnGeneratedFleets(t *testing.T) {
	first, _ := strconv.Atoi(os.Getenv("FIRST"))
	n := 10
	if s := os.Getenv("N"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for _, plant := range []string{"code", "disruption", "image", "node", ""} {
		found, other, lost := 0, 0, 0
		for seed := first + 1; seed <= first+n; seed++ {
			o := fleets.Options{}
			if plant != "" {
				o.Plant = []string{plant}
			}
			fleet := fleets.Generate(uint64(seed), o)
			native := suggest(t, fleet.Records, false)
			custom := suggest(t, fleet.Records, true)
			for _, s := range []*evidence.Suggestion{native, custom} {
				lost += int(s.Effect.Lost)
			}
			rules := native.Rules
			if plant != "code" && plant != "disruption" {
				rules = custom.Rules
			}
			if plant == "" {
				rules = append(rules, native.Rules...)
			}
			hit := false
			var extra []string
			for i := range rules {
				r := &rules[i]
				switch {
				case plant == "code" && r.About == evidence.OnCode && fmt.Sprint(r.Code) == fleet.Planted[0].Code,
					plant == "disruption" && r.About == evidence.OnDisruption,
					plant == "image" && r.About == evidence.OnMemory,
					plant == "node" && r.About == evidence.OnNode && r.Node == fleet.Planted[0].Value:
					hit = true
				default:
					extra = append(extra, fmt.Sprintf("%s (%d)", r, r.For))
				}
			}
			if hit {
				found++
			}
			if len(extra) > 0 {
				other++
			}
			if !hit || len(extra) > 0 {
				t.Logf("%s %d: hit %v, extra %v, few %v, notes %q", plant, seed, hit, extra, len(native.TooFew), native.Notes)
			}
		}
		t.Logf("%q: found %d of %d, others %d, lost %d", plant, found, n, other, lost)
	}
}
