package upstream

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/policies"
	"github.com/podverdict/podverdict/runtime/rego"
)

// Finding is a fault with the id of the constraint that is broken.
type Finding struct {
	ID string
	release.Fault
}

// Bundle is the Rego bundle of package policies. It is safe for concurrent use.
type Bundle struct {
	job, status oparego.PreparedEvalQuery
	// constraints are the ids of the rules by the rule that they add to.
	constraints map[string][]string
}

// The rules that are asked. What jobstatus.unenforced says, upstream does not.
const (
	jobFindings    = "data.podverdict.job.findings"
	jobWarnings    = "data.podverdict.job.warnings"
	statusFindings = "data.podverdict.jobstatus.findings"
)

// NewBundle compiles the bundle.
func NewBundle(ctx context.Context) (*Bundle, error) {
	loaded, err := rego.Load(policies.FS)
	if err != nil {
		return nil, err
	}
	compiler := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1)
	if compiler.Compile(loaded.ParsedModules("")); compiler.Failed() {
		return nil, compiler.Errors
	}
	b := &Bundle{constraints: constraints(compiler)}
	if b.job, err = prepare(ctx, compiler, "["+jobFindings+", "+jobWarnings+"]"); err != nil {
		return nil, err
	}
	b.status, err = prepare(ctx, compiler, "["+statusFindings+"]")
	return b, err
}

// constraints reads what METADATA says of the rules.
func constraints(compiler *ast.Compiler) map[string][]string {
	ids := map[string][]string{}
	for _, annotation := range compiler.GetAnnotationSet().Flatten() {
		if id, ok := annotation.Annotations.Custom["id"].(string); ok {
			rule := annotation.Path.String()
			ids[rule] = append(ids[rule], id)
		}
	}
	return ids
}

// Constraints returns the ids of the constraints that submissions can break, in writes
// to the status or in others. F15 is none: the API server's defaults mend it.
func (b *Bundle) Constraints(status bool) []string {
	ids := slices.Concat(b.constraints[jobFindings], b.constraints[jobWarnings])
	if status {
		ids = b.constraints[statusFindings]
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "F15" })
}

func prepare(ctx context.Context, compiler *ast.Compiler, query string) (oparego.PreparedEvalQuery, error) {
	return oparego.New(oparego.Compiler(compiler), oparego.Query(query), oparego.SetRegoVersion(ast.RegoV1)).PrepareForEval(ctx)
}

// Findings returns what the bundle says of a submission, findings and warnings.
func (b *Bundle) Findings(ctx context.Context, s release.Submission) ([]Finding, error) {
	query, input := b.job, s.Object
	switch {
	case s.Status:
		query, input = b.status, fmt.Appendf(nil, `{"new":%s,"old":%s}`, s.Object, s.Old)
	case s.Old != nil:
		input = fmt.Appendf(nil, `{"object":%s,"oldObject":%s}`, s.Object, s.Old)
	}
	value, err := ast.ValueFromReader(bytes.NewReader(input))
	if err != nil {
		return nil, err
	}
	results, err := query.Eval(ctx, oparego.EvalParsedInput(value))
	if err != nil {
		return nil, err
	}
	if len(results) != 1 {
		return nil, errUndefined
	}
	return readFindings(results[0].Expressions[0].Value)
}

// readFindings reads lists of findings.
func readFindings(answer any) ([]Finding, error) {
	lists, _ := answer.([]any)
	var all []Finding
	for _, list := range lists {
		elements, ok := list.([]any)
		if !ok {
			return nil, errNoFindings(answer)
		}
		for _, element := range elements {
			members, _ := element.(map[string]any)
			var f Finding
			for name, into := range map[string]*string{"id": &f.ID, "field": &f.Field, "type": &f.Type, "detail": &f.Detail, "msg": &f.Message} {
				if *into, ok = members[name].(string); !ok {
					return nil, errNoFindings(answer)
				}
			}
			all = append(all, f)
		}
	}
	return all, nil
}
