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

// Upstream itself passes every vector: what they want is what Kubernetes does.
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

// The differential run compares programs; here it is whole engines, which keep
// programs, know the phase gate and are asked about several versions in turn.
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
		if i%2 == 1 { // a policy that is known from before
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
