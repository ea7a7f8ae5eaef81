package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"

	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// regoBundle is the Rego bundle of package policies, compiled once for all vectors.
type regoBundle struct{ constraints, guardrails oparego.PreparedEvalQuery }

func newRegoBundle(t testing.TB) regoBundle {
	t.Helper()
	loaded, err := rego.Load(policies.FS)
	if err != nil {
		t.Fatal(err)
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1)
	if compiler.Compile(loaded.ParsedModules("")); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	prepare := func(query string) oparego.PreparedEvalQuery {
		prepared, err := oparego.New(oparego.Compiler(compiler), oparego.Query(query), oparego.SetRegoVersion(ast.RegoV1)).PrepareForEval(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return prepared
	}
	return regoBundle{
		constraints: prepare("data.podverdict.job.findings | data.podverdict.job.warnings"),
		guardrails:  prepare("data.podverdict.guardrails.findings"),
	}
}

var errNoAnswerOfRego = errors.New("no answer")

// findings evaluates a query as Gatekeeper does, which passes the settings with the object.
func (b regoBundle) findings(ctx context.Context, query oparego.PreparedEvalQuery, s vectors.Submission) ([]vectors.Finding, error) {
	input := map[string]any{"object": s.Object}
	if s.OldObject != nil {
		input["oldObject"] = s.OldObject
	}
	if s.Settings != nil {
		input["parameters"] = map[string]any{"guardrails": s.Settings}
	}
	value, err := ast.InterfaceToValue(input)
	if err != nil {
		return nil, err
	}
	results, err := query.Eval(ctx, oparego.EvalParsedInput(value))
	if err != nil {
		return nil, err
	}
	if len(results) != 1 {
		return nil, errNoAnswerOfRego
	}
	text, err := json.Marshal(results[0].Expressions[0].Value)
	if err != nil {
		return nil, err
	}
	var found []vectors.Finding
	err = json.Unmarshal(text, &found)
	return found, err
}

// TestRegoPassesJobVectors checks that the bundle returns the expected findings for every vector.
func TestRegoPassesJobVectors(t *testing.T) {
	bundle := newRegoBundle(t)
	for engine, run := range map[string]struct {
		query   oparego.PreparedEvalQuery
		vectors []vectors.JobVector
		seen    vectors.Lens
	}{
		"constraints": {bundle.constraints, loaded(t, vectors.Constraints), func(f *vectors.Finding) bool { f.Severity = ""; return true }},
		"guardrails":  {bundle.guardrails, loaded(t, vectors.Guardrails), func(f *vectors.Finding) bool { f.Type, f.Detail = "", ""; return true }},
	} {
		judge := func(ctx context.Context, s vectors.Submission) ([]vectors.Finding, error) {
			return bundle.findings(ctx, run.query, s)
		}
		report, err := vectors.RunJobs(t.Context(), judge, run.seen, run.vectors, vectors.Options{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Results {
			if r.Outcome != reports.Passed {
				t.Errorf("%s: %s\n%s", r.Name, r.Sentence, r.Detail)
			}
		}
		t.Log(report.Summary())
	}
}

// TestOldObjectsAreLegal checks that the old object of an update has no constraint findings as a
// new object.
func TestOldObjectsAreLegal(t *testing.T) {
	bundle := newRegoBundle(t)
	for _, v := range loaded(t, vectors.Constraints) {
		if v.OldObject == nil {
			continue
		}
		got, err := bundle.findings(t.Context(), bundle.constraints, vectors.Submission{Object: v.OldObject})
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		for _, f := range got {
			if f.Type != vectors.TypeWarning {
				t.Errorf("%s: the old object: %s", v.Name, f.Message)
			}
		}
	}
}

// TestGuardrailsTurnedOffWouldFind checks that a disabled guardrail would have a finding if it were
// enabled.
func TestGuardrailsTurnedOffWouldFind(t *testing.T) {
	bundle, off := newRegoBundle(t), 0
	for _, v := range loaded(t, vectors.Guardrails) {
		for _, id := range v.Silent {
			if settings, _ := v.Settings[id].(map[string]any); settings["enabled"] != false {
				continue
			}
			off++
			on := v.Submission
			on.Settings = maps.Clone(on.Settings)
			on.Settings[id] = map[string]any{"enabled": true}
			found, err := bundle.findings(t.Context(), bundle.guardrails, on)
			if err != nil || !slices.ContainsFunc(found, func(f vectors.Finding) bool { return f.ID == id }) {
				t.Errorf("%s: %s finds nothing where it is on: %v, %v", v.Name, id, found, err)
			}
		}
	}
	if off < 27 {
		t.Errorf("%d guardrails are turned off", off)
	}
}
