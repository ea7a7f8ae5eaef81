package evidence_test

import (
	"testing"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/fleets"
	"github.com/podverdict/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/internal/judging"
)

// TestCorpus: in generated fleets with one planted cause, it is named first; in those without, none is.
func TestCorpus(t *testing.T) {
	judge := newJudge(t)
	first, last := uint64(1), uint64(200)
	if testing.Short() {
		last = 40
	}
	sizes, noises := []int{1000, 1500, 2000}, []float64{0.01, 0.03, 0.06}
	quiet := 0
	found, planted := map[string]int{}, map[string]int{}
	for seed := first; seed <= last; seed++ {
		kind := []string{"node", "image", "code", "disruption"}[seed%4]
		options := fleets.Options{Pods: sizes[seed/4%3], Noise: noises[seed/12%3]}
		noise := fleets.Generate(seed, options)
		if causes := foldOf(t, judge, noise.Records).Report(0).Causes; len(causes) == 0 {
			quiet++
		} else {
			t.Logf("seed %d: noise %v alone: %s", seed, options.Noise, causes[0].Text)
		}
		options.Plant = []string{kind}
		fleet := fleets.Generate(seed, options)
		planted[kind]++
		causes := foldOf(t, judge, fleet.Records).Report(0).Causes
		want := fleet.Planted[0]
		if len(causes) > 0 && (fleets.Planted{Kind: causes[0].Kind, Value: causes[0].Value, Code: causes[0].Code, Reason: causes[0].Reason}) == want {
			found[kind]++
			continue
		}
		t.Logf("seed %d: noise %v, %d Pods, planted %v:", seed, options.Noise, options.Pods, want)
		for _, c := range causes {
			t.Log("  ", c.Text)
		}
	}
	n := int(last - first + 1)
	all := 0
	for _, k := range found {
		all += k
	}
	t.Logf("%d of %d found: %v of %v; %d of noise alone are quiet", all, n, found, planted, quiet)
	if all*100 < 95*n || quiet*100 < 95*n {
		t.Errorf("%d of %d planted causes are first, %d of %d fleets of noise alone have none", all, n, quiet, n)
	}
}

func foldOf(t *testing.T, judge *judging.Judge, records []evidence.Record) *evidence.Fold {
	t.Helper()
	byKey := map[string][]evidence.Record{}
	for _, r := range records {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	fold := &evidence.Fold{}
	for _, some := range byKey {
		for _, f := range evidence.Families(some) {
			o, err := evidence.Of(t.Context(), f, judge)
			if err != nil {
				t.Fatal(err)
			}
			fold.Add(&o)
		}
	}
	return fold
}

func newJudge(t *testing.T) *judging.Judge {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := inforce.New(environment, &inforce.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return judging.New(environment, policies)
}
