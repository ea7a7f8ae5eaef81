package rego

import (
	"cmp"
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
	entrypointConfiguration = "data.podverdict.guardrails.configuration_errors"
)

// Options say which rules a Validator asks.
type Options struct {
	// Bundle is asked, from Load; nil means that of package policies.
	Bundle *bundle.Bundle
	// Data lies over the data of the bundle: objects of JSON values from the root of data, as in
	// {"podverdict": {"config": ...}}.
	Data map[string]any
	// Guardrails are asked too.
	Guardrails bool
	// Warnings of the API server are asked for too, if the bundle has any: findings of severity warning.
	Warnings bool
	// Limit is how long the bundle may take for one answer; zero means Limit.
	Limit time.Duration
}

// Limit is how long a bundle may take for one answer, unless Options say something else. The largest Jobs take package
// policies less than a second.
const Limit = 30 * time.Second

// Validator asks a bundle. It is immutable and safe for concurrent use.
type Validator struct {
	questions []question
}

// question is an entrypoint, prepared. OPA's package rego would do it, but links a compiler to WebAssembly.
type question struct {
	program

	entrypoint string
	query      ast.Body // answer = data.podverdict.job.findings
	compiled   ast.QueryCompiler
}

// answered is the variable of the query that gets the value of the entrypoint.
const answered = ast.Var("answer")

// New prepares a Validator. It is an error when the bundle does not compile, has no entrypoint, or has something to say
// against the data: a *DataError for each thing.
func New(ctx context.Context, o Options) (*Validator, error) {
	b := o.Bundle
	if b == nil {
		var err error
		if b, err = builtin(o); err != nil {
			return nil, err
		}
	}
	var skipped []ast.StageID
	if o.Bundle == nil {
		skipped = []ast.StageID{ast.StageCheckTypes} // which the tests of package policies have checked
	}
	p, err := compile(b, o.Data, skipped...)
	if err != nil {
		return nil, err
	}
	p.limit = cmp.Or(o.Limit, Limit)
	if err := p.checkRead(o.Data); err != nil {
		return nil, err
	}
	v := &Validator{}
	for _, entrypoint := range p.entrypoints(o) {
		q, err := p.prepare(entrypoint)
		if err != nil {
			return nil, err
		}
		v.questions = append(v.questions, q)
	}
	if o.Guardrails || o.Data != nil {
		if err := p.checkConfiguration(ctx); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Validate says what is wrong with a Job or CronJob, in the order of the fields' paths. With oldObject, the rules are those of
// an update: what a guardrail says of the old object, too, is not held against the new one, as in admission. The objects are JSON values as Object makes them; they are not changed.
func (v *Validator) Validate(ctx context.Context, object, oldObject map[string]any) ([]Finding, error) {
	document := any(object)
	if oldObject != nil {
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

// without returns the findings that an object does not have by itself.
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

// evaluate returns the value of the entrypoint for an input. It takes no longer than the limit.
func (q question) evaluate(ctx context.Context, input ast.Value) (any, error) {
	limited, release := context.WithTimeout(ctx, q.limit)
	defer release()
	cancel := topdown.NewCancel()
	defer context.AfterFunc(limited, cancel.Cancel)()
	var results topdown.QueryResultSet
	err := storage.Txn(limited, q.store, storage.TransactionParams{}, func(read storage.Transaction) (err error) {
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

func compile(b *bundle.Bundle, data map[string]any, skipped ...ast.StageID) (program, error) {
	merged, err := overlay(b.Data, data)
	if err != nil {
		return program{}, err
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities()).WithDefaultRegoVersion(ast.RegoV1).WithSkipStages(skipped...).
		WithPathConflictsCheck(func(path []string) (bool, error) { return holds(merged, path), nil })
	if compiler.Compile(b.ParsedModules("")); compiler.Failed() {
		return program{}, errBundle(compiler.Errors)
	}
	return program{compiler, inmem.NewFromObjectWithOpts(merged, inmem.OptReturnASTValuesOnRead(true)), Limit}, nil
}

// holds reports whether data has a value where a rule would have its own.
func holds(data any, path []string) bool {
	for _, key := range path {
		object, ok := data.(map[string]any)
		if !ok {
			return false
		}
		if data, ok = object[key]; !ok {
			return false
		}
	}
	return true
}

// entrypoints returns what the options ask for.
func (p program) entrypoints(o Options) []string {
	asked := []string{entrypointJob}
	if o.Warnings && p.has(entrypointWarnings) { // bundles of others need not have them
		asked = append(asked, entrypointWarnings)
	}
	if o.Guardrails {
		asked = append(asked, entrypointGuardrails)
	}
	return asked
}

func (p program) has(entrypoint string) bool {
	return len(p.compiler.GetRules(ast.MustParseRef(entrypoint))) > 0
}

func (p program) prepare(entrypoint string) (question, error) {
	if !p.has(entrypoint) {
		return question{}, fmt.Errorf("bundle: no rule %s in it", entrypoint)
	}
	compiled := p.compiler.QueryCompiler()
	value := ast.NewTerm(ast.MustParseRef(entrypoint))
	query, err := compiled.Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answered), value)))
	if err != nil {
		return question{}, errBundle(err)
	}
	return question{p, entrypoint, query, compiled}, nil
}

// checkConfiguration asks the bundle, if it knows, whether it can use the data.
func (p program) checkConfiguration(ctx context.Context) error {
	if !p.has(entrypointConfiguration) {
		return nil // bundles of others need not look at their data
	}
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
		errs[i] = &DataError{Field: strings.TrimPrefix(m.Field, "data."), Message: m.Detail}
	}
	return errors.Join(errs...)
}
