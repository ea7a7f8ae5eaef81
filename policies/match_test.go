package policies_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime"
)

func TestMatchAgreesWithTheVectors(t *testing.T) {
	all, err := vectors.Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no vectors")
	}
	match := prepareMatch(t)
	for _, v := range all {
		if got := match(t, v.Request()); !got.Equal(v.Want) {
			t.Errorf("%s:\n got %s\nwant %s", v.Name, inJSON(t, got), inJSON(t, v.Want))
		}
	}
}

func TestMatchAgreesWithTheDefinition(t *testing.T) {
	match := prepareMatch(t)
	versions := []string{"", "1.28", "1.29"}
	for _, hostile := range []bool{false, true} {
		generator := generators.NewPairs(1, hostile)
		pairs := 500
		if testing.Short() {
			pairs = 100
		}
		for i := range pairs {
			r := conformance.Request{
				Kubernetes: versions[i%len(versions)], Policy: generator.Policy(), Pod: generator.Pod(),
			}
			want, err := conformance.Go(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := match(t, r); !got.Equal(want) {
				t.Fatalf("%s:\n got %s\nwant %s", inJSON(t, r), inJSON(t, got), inJSON(t, want))
			}
		}
	}
}

// prepareMatch returns the bundle's verdict as a function of a request.
func prepareMatch(t *testing.T) func(*testing.T, conformance.Request) runtime.Verdict {
	t.Helper()
	const query = "data.podverdict.match.verdict"
	options := []func(*rego.Rego){rego.Query(query)}
	for _, m := range modules(t, isRule) {
		options = append(options, rego.ParsedModule(m))
	}
	prepared, err := rego.New(options...).PrepareForEval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, r conformance.Request) runtime.Verdict {
		t.Helper()
		input, err := ast.ValueFromReader(bytes.NewReader(inJSON(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		results, err := prepared.Eval(t.Context(), rego.EvalParsedInput(input))
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != 1 {
			t.Fatalf("%s is undefined", query)
		}
		var v runtime.Verdict
		if err := json.Unmarshal(inJSON(t, results[0].Expressions[0].Value), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func inJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
