package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Entrypoints of a bundle.
const (
	entrypointJob           = "data.podverdict.job.findings"
	entrypointWarnings      = "data.podverdict.job.warnings"
	entrypointGuardrails    = "data.podverdict.guardrails.findings"
	entrypointStatus        = "data.podverdict.jobstatus.findings"
	entrypointConfiguration = "data.podverdict.guardrails.configuration_errors"
)

// Options selects the rules that a Validator evaluates.
type Options struct {
	// Guardrails also evaluates the guardrails, in addition to the constraints.
	Guardrails bool
	// Settings are the settings of guardrails by rule id, as JSON values: {"G-TTL": {"max": 3600}}.
	Settings map[string]any
	// Warnings also returns the API server's warnings, as findings with severity warning.
	Warnings bool
	// Status instead evaluates the API server's validation of a write to a Job's status.
	Status bool
}

// limit is the maximum evaluation time of one entrypoint. The largest Jobs take less than a second.
const limit = 30 * time.Second

// Validator evaluates a bundle. It is immutable and safe for concurrent use.
type Validator struct {
	questions []question
	status    bool // reports whether the questions concern a write to the status
}

// question is a prepared entrypoint. OPA's package rego would do the same, but links a compiler to WebAssembly.
type question struct {
	program

	entrypoint string
	query      ast.Body // for example answer = data.podverdict.job.findings
	compiled   ast.QueryCompiler
}

// answered is the query variable that is bound to the value of the entrypoint.
const answered = ast.Var("answer")

// New prepares a Validator. Each invalid setting is a *SettingError.
func New(ctx context.Context, o Options) (*Validator, error) {
	b, err := asked(o)
	if err != nil {
		return nil, err
	}
	p, err := compile(b, o.Settings)
	if err != nil {
		return nil, err
	}
	v := &Validator{status: o.Status}
	for _, entrypoint := range entrypoints(o) {
		q, err := p.prepare(entrypoint)
		if err != nil {
			return nil, err
		}
		v.questions = append(v.questions, q)
	}
	if o.Guardrails && len(o.Settings) > 0 {
		return v, p.checkSettings(ctx)
	}
	return v, nil
}

// Validate returns the findings about a Job or CronJob, ordered by field path. With oldObject, it applies the rules for an update. As in
// admission, a guardrail finding that the old object also has is not reported for the new one. The objects are JSON values as Object
// returns them, and are not changed.
func (v *Validator) Validate(ctx context.Context, object, oldObject map[string]any) ([]Finding, error) {
	document := any(object)
	switch {
	case v.status:
		document = map[string]any{"new": object, "old": oldObject}
	case oldObject != nil:
		document = map[string]any{"object": object, "oldObject": oldObject}
	}
	input, err := ast.InterfaceToValue(document)
	if err != nil {
		return nil, errObject(err)
	}
	var all []Finding
	for _, q := range v.questions {
		found, err := q.answer(ctx, input)
		if err != nil {
			return nil, err
		}
		if q.entrypoint == entrypointGuardrails && oldObject != nil {
			if found, err = q.without(ctx, found, oldObject); err != nil {
				return nil, err
			}
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return strings.Compare(a.Field, b.Field) })
	return all, nil
}

// without removes the findings that the given object also has.
func (q question) without(ctx context.Context, found []Finding, object map[string]any) ([]Finding, error) {
	input, err := ast.InterfaceToValue(object)
	if err != nil {
		return nil, errObject(err)
	}
	before, err := q.answer(ctx, input)
	return slices.DeleteFunc(found, func(f Finding) bool { return slices.Contains(before, f) }), err
}

func (q question) answer(ctx context.Context, input ast.Value) ([]Finding, error) {
	value, err := q.evaluate(ctx, input)
	if err != nil {
		return nil, err
	}
	severity := severityError
	if q.entrypoint == entrypointWarnings {
		severity = severityWarning
	}
	found, err := findings(value, severity)
	if err != nil {
		return nil, fmt.Errorf("bundle: %s does not answer with findings: %w", q.entrypoint, err)
	}
	return found, nil
}

// evaluate returns the value of the entrypoint for an input, within the time limit.
func (q question) evaluate(ctx context.Context, input ast.Value) (any, error) {
	limited, release := context.WithTimeout(ctx, q.limit)
	defer release()
	cancel := topdown.NewCancel()
	defer context.AfterFunc(limited, cancel.Cancel)()
	var results topdown.QueryResultSet
	err := storage.Txn(limited, q.store, storage.TransactionParams{}, func(read storage.Transaction) (err error) {
		if err := limited.Err(); err != nil {
			return err // OPA checks cancel only occasionally, and may answer before
		}
		results, err = topdown.NewQuery(q.query).WithQueryCompiler(q.compiled).WithCompiler(q.compiler).
			WithStore(q.store).WithTransaction(read).WithInput(ast.NewTerm(input)).WithCancel(cancel).Run(limited)
		return err
	})
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("bundle: %s gives no answer within %s, and was stopped", q.entrypoint, q.limit)
	case err != nil:
		return nil, errBundle(err)
	case len(results) == 0:
		return nil, fmt.Errorf("bundle: %s is undefined for this object", q.entrypoint)
	}
	return ast.JSON(results[0][answered].Value)
}

// program is a compiled bundle with its data.
type program struct {
	compiler *ast.Compiler
	store    storage.Store
	limit    time.Duration
}

// needless lists compiler stages without an effect on our rules. They find mistakes that the tests of package policies have ruled out,
// reorder expressions that are already in order, or prepare features that our rules do not use, such as printing.
var needless = []ast.StageID{
	ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports, ast.StageCheckVoidCalls, ast.StageCheckRuleConflicts,
	ast.StageCheckUndefinedFuncs, ast.StageCheckSafetyRuleHeads, ast.StageCheckSafetyRuleBodies, ast.StageCheckRecursion,
	ast.StageCheckTypes, ast.StageCheckUnsafeBuiltins, ast.StageCheckDeprecatedBuiltins, ast.StageSetGraph,
	ast.StageRewritePrintCalls, ast.StageParseMetadataBlocks, ast.StageSetAnnotationSet, ast.StageRewriteRegoMetadataCalls,
	ast.StageRewriteTemplateStrings, ast.StageBuildComprehensionIndices, ast.StageBuildRequiredCapabilities,
}

func compile(b *bundle.Bundle, settings map[string]any) (program, error) {
	compiler := ast.NewCompiler().WithDefaultRegoVersion(ast.RegoV1).WithSkipStages(needless...)
	if compiler.Compile(b.ParsedModules("")); compiler.Failed() {
		return program{}, errBundle(compiler.Errors)
	}
	data := map[string]any{}
	if settings != nil {
		data["podverdict"] = map[string]any{"config": map[string]any{"guardrails": settings}}
	}
	return program{compiler, inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true)), limit}, nil
}

// entrypoints returns the entrypoints that the options select.
func entrypoints(o Options) []string {
	if o.Status {
		return []string{entrypointStatus}
	}
	all := []string{entrypointJob}
	if o.Warnings {
		all = append(all, entrypointWarnings)
	}
	if o.Guardrails {
		all = append(all, entrypointGuardrails)
	}
	return all
}

func (p program) prepare(entrypoint string) (question, error) {
	compiled := p.compiler.QueryCompiler()
	value := ast.NewTerm(ast.MustParseRef(entrypoint))
	query, err := compiled.Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answered), value)))
	if err != nil {
		return question{}, errBundle(err)
	}
	return question{p, entrypoint, query, compiled}, nil
}

// checkSettings asks the bundle to validate the settings.
func (p program) checkSettings(ctx context.Context) error {
	q, err := p.prepare(entrypointConfiguration)
	if err != nil {
		return err
	}
	mistakes, err := q.answer(ctx, ast.NewObject())
	if err != nil {
		return err
	}
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = &SettingError{Field: strings.TrimPrefix(m.Field, "data.podverdict.config.guardrails."), Message: m.Detail}
	}
	return errors.Join(errs...)
}
