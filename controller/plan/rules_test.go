package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// statusRules queries the rules that the API server enforces for a write to the status, and those that it does not
// enforce but that must hold.
var statusRules = sync.OnceValues(func() (oparego.PreparedEvalQuery, error) {
	bundle, err := rego.Load(policies.FS)
	if err != nil {
		return oparego.PreparedEvalQuery{}, err
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1)
	if compiler.Compile(bundle.ParsedModules("")); compiler.Failed() {
		return oparego.PreparedEvalQuery{}, compiler.Errors
	}
	query := "data.podverdict.jobstatus.findings | data.podverdict.jobstatus.unenforced"
	return oparego.New(oparego.Compiler(compiler), oparego.Query(query), oparego.SetRegoVersion(ast.RegoV1)).
		PrepareForEval(context.Background())
})

// brokenStatusRules returns the rules that a write violates, one per line.
func brokenStatusRules(oldJob, newJob *batchv1.Job) (string, error) {
	query, err := statusRules()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"old": oldJob, "new": newJob})
	if err != nil {
		return "", err
	}
	input, err := ast.ValueFromReader(strings.NewReader(string(text)))
	if err != nil {
		return "", err
	}
	results, err := query.Eval(context.Background(), oparego.EvalParsedInput(input))
	if err != nil || len(results) != 1 {
		return "", fmt.Errorf("%d results: %w", len(results), err)
	}
	var broken strings.Builder
	for _, finding := range results[0].Expressions[0].Value.([]any) {
		members := finding.(map[string]any)
		fmt.Fprintf(&broken, "%s: %s\n", members["id"], members["msg"])
	}
	return broken.String(), nil
}
