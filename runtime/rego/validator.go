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

// Options say which rules a Validator evaluates.
type Options struct {
	// Guardrails are asked, beside the constraints.
	Guardrails bool
	// Settings are those of guardrails, by the ids of the bundle: objects of JSON values, as in {"G-TTL": {"max": 3600}}.
	Settings map[string]any
	// Warnings of the API server are asked for too: findings of severity warning.
	Warnings bool
	// Status asks instead what the API server refuses in a write to a Job's status.
	Status bool
}

// limit is how long the bundle may take for one answer. The largest Jobs take it less than a second.
const limit = 30 * time.Second

// Validator evaluates a bundle. It is immutable and safe for concurrent use.
type Validator struct {
	questions []question
	status    bool // the questions are about a write to the status
}

// question is a prepared entrypoint. OPA's package rego would do the same, but links a compiler to WebAssembly.
type question struct {
	program

	entrypoint string
	query      ast.Body // such as answer = data.podverdict.job.findings
	compiled   ast.QueryCompiler
}

// answered is the variable of the query that gets the value of the entrypoint.
const answered = ast.Var("answer")

// New prepares a Validator. Each setting that cannot be used is a *SettingError.
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

// Validate says what is wrong with a Job or CronJob, in the order of the fields' paths. With oldObject, the rules are those of
// an update: what a guardrail says of the old object, too, is not held against the new one, as in admission. The objects are JSON values as Object makes them; they are not changed.
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

// without removes the findings that the given object has by itself.
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
			return err // OPA looks at cancel from time to time, and may answer before
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

// needless are stages of compiling that change nothing of our rules: they find mistakes, which the tests of package policies have made
// sure are not there, order expressions that are in order already, or prepare for what our rules do not do, such as printing.
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

// entrypoints returns what the options ask for.
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

// checkSettings asks the bundle whether it can use the settings.
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
