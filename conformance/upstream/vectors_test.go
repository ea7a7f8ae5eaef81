package upstream

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// TestVectors tests that upstream itself passes every vector, so the vectors describe Kubernetes' behaviour.
func TestVectors(t *testing.T) {
	all, err := vectors.Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	report, err := vectors.Run(t.Context(), Matcher, all, vectors.Options{Engine: "upstream"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		t.Run(r.Name, func(t *testing.T) {
			if r.Outcome != reports.Passed {
				t.Errorf("%s\n%s", r.Outcome, r.Detail)
			}
		})
	}
	t.Log(report.Summary())
}

// TestEngines compares whole engines, where the differential run compares programs. Engines cache programs, have the
// phase gate and are queried for several versions in turn.
func TestEngines(t *testing.T) {
	engines := map[string]conformance.Engine{
		"go": conformance.Go, "cel": conformance.CEL(),
		"cel, interpreted": conformance.InterpretedCEL(),
	}
	versions := []string{"", "1.28", "1.29", compiler.DefaultVersion}
	g := generators.NewPairs(1, true)
	var earlier []conformance.Request
	pairs := 2000
	if testing.Short() {
		pairs = 100
	}
	for i := range pairs {
		r := conformance.Request{Kubernetes: versions[i%len(versions)], Policy: g.Policy(), Pod: g.Pod()}
		if i%2 == 1 { // a policy that was used before
			r.Policy = earlier[i/3].Policy
		}
		earlier = append(earlier, r)
		want, err := Matcher(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for name, engine := range engines {
			if got, err := engine(t.Context(), r); err != nil || !got.Equal(want) {
				text, _ := yaml.Marshal(r)
				t.Fatalf("%s: %v, want %v\n%s", name, Answer{Verdict: got, Err: err}, Answer{Verdict: want}, text)
			}
		}
	}
}
