package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"

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

// findings asks as Gatekeeper does, which passes the settings with the object.
func (b regoBundle) findings(ctx context.Context, query oparego.PreparedEvalQuery, s Submission) ([]Finding, error) {
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
	var found []Finding
	err = json.Unmarshal(text, &found)
	return found, err
}

func constraintVectors(t testing.TB) []JobVector {
	t.Helper()
	vectors, err := ConstraintVectors()
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func guardrailVectors(t testing.TB) []JobVector {
	t.Helper()
	vectors, err := GuardrailVectors()
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// The bundle says of every vector what it wants.
func TestRegoPassesJobVectors(t *testing.T) {
	bundle := newRegoBundle(t)
	for engine, run := range map[string]struct {
		query   oparego.PreparedEvalQuery
		vectors []JobVector
		seen    Lens
	}{
		"constraints": {bundle.constraints, constraintVectors(t), func(f *Finding) bool { f.Severity = ""; return true }},
		"guardrails":  {bundle.guardrails, guardrailVectors(t), func(f *Finding) bool { f.Type, f.Detail = "", ""; return true }},
	} {
		judge := func(ctx context.Context, s Submission) ([]Finding, error) { return bundle.findings(ctx, run.query, s) }
		report, err := RunJobs(t.Context(), judge, run.seen, run.vectors, Options{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Results {
			if r.Outcome != Passed {
				t.Errorf("%s: %s\n%s", r.Vector.Name, r.Vector.Sentence, r.Detail)
			}
		}
		t.Log(report.Summary())
	}
}

// What an update replaces has passed the constraints when it was stored.
func TestOldObjectsAreLegal(t *testing.T) {
	bundle := newRegoBundle(t)
	for _, v := range constraintVectors(t) {
		if v.OldObject == nil {
			continue
		}
		got, err := bundle.findings(t.Context(), bundle.constraints, Submission{Object: v.OldObject})
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		for _, f := range got {
			if f.Type != TypeWarning {
				t.Errorf("%s: the old object: %s", v.Name, f.Message)
			}
		}
	}
}
