package vectors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/reports"
	"github.com/podverdict/podverdict/runtime"
)

// Options of a run. The zero value runs all vectors and expects them to pass.
type Options struct {
	// Engine is the engine's name, for the report.
	Engine string
	// Features are the features that the engine supports; vectors that need others are reported as not supported. Empty means
	// all.
	Features []Feature
	// Select, if not nil, must match the names of the vectors to run.
	Select *regexp.Regexp
	// Kubernetes skips the vectors for other minor versions; empty skips none.
	Kubernetes string
	// ExpectedFailures are the names of vectors that must not pass.
	ExpectedFailures []string
}

// ErrNoneSelected is returned if no vector is selected.
var ErrNoneSelected = errors.New("no vector is selected")

// Run runs every selected vector against the engine, one after the other, and compares the verdicts including their messages.
// If the engine panics, the vector's outcome is an error. Run returns an error only if no vector is selected, if an expected
// failure is not a vector, or if the context is done.
func Run(ctx context.Context, engine conformance.Engine, all []Vector, o Options) (reports.Report, error) {
	if err := areVectors(o.ExpectedFailures, all); err != nil {
		return reports.Report{}, err
	}
	r := reports.Report{Engine: o.Engine}
	asked := 0
	for _, v := range all {
		if !o.selects(v) {
			continue
		}
		if missing := unsupported(v, o.Features); len(missing) > 0 {
			left := v.result()
			left.Outcome, left.Detail = reports.NotSupported, "needs "+joined(missing)
			r.Results = append(r.Results, left)
			continue
		}
		r.Results = append(r.Results, ask(ctx, engine, v, slices.Contains(o.ExpectedFailures, v.Name)))
		asked++
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	if asked == 0 {
		return r, ErrNoneSelected
	}
	return r, nil
}

// areVectors returns an error if a name is not the name of a vector.
func areVectors(names []string, all []Vector) error {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(v Vector) bool { return v.Name == name }) {
			return fmt.Errorf("expected failure %q is no vector", name)
		}
	}
	return nil
}

func (o Options) selects(v Vector) bool {
	if o.Select != nil && !o.Select.MatchString(v.Name) {
		return false
	}
	return o.Kubernetes == "" || o.Kubernetes == cmp.Or(v.Kubernetes, compiler.DefaultVersion)
}

func unsupported(v Vector, supported []Feature) []Feature {
	if len(supported) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Features), func(f Feature) bool { return slices.Contains(supported, f) })
}

// result returns the parts of the vector's result that do not depend on the engine.
func (v Vector) result() reports.Result {
	r := reports.Result{Name: v.Name, Sentence: v.Sentence, KEP: v.KEP, Semantics: v.Semantics}
	for _, f := range v.Features {
		r.Features = append(r.Features, string(f))
	}
	return r
}

// ask passes the engine its own copy of the request, so that changes to it cannot affect the next engine.
func ask(ctx context.Context, engine conformance.Engine, v Vector, expected bool) reports.Result {
	start := time.Now()
	got, err := guarded(func() (runtime.Verdict, error) {
		if engine == nil {
			return runtime.Verdict{}, errors.New("no engine")
		}
		return engine(ctx, conformance.Request{Kubernetes: v.Kubernetes, Policy: v.Policy.DeepCopy(), Pod: v.Pod.DeepCopy()})
	})
	r := v.result()
	r.Outcome, r.Duration = reports.Passed, time.Since(start)
	switch {
	case err != nil:
		r.Outcome, r.Detail = reports.Errored, err.Error()
	case !got.Equal(v.Want):
		// Only differences in the JSON form count.
		if r.Detail = difference(got, v.Want); r.Detail != "" {
			r.Outcome = reports.Failed
		}
	}
	switch {
	case expected && r.Outcome == reports.Passed:
		r.Outcome, r.Detail = reports.Unexpected, "is listed as an expected failure"
	case expected:
		r.Outcome = reports.Expected
	}
	return r
}

// guarded returns the answer of an engine or judge, and converts a panic to an error.
func guarded[T any](ask func() (T, error)) (answer T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return ask()
}

// difference returns the fields of the JSON form in which two verdicts differ.
func difference(got, want runtime.Verdict) string {
	g, w := members(got), members(want)
	var lines []string
	for _, field := range []string{
		"terminal", "matched", "action", "counted", "rule", "ruleName", "container", "exitCode", "condition", "message", "error",
	} {
		if g[field] != w[field] {
			lines = append(lines, fmt.Sprintf("%s:\n  got  %s\n  want %s", field, orAbsent(g[field]), orAbsent(w[field])))
		}
	}
	return strings.Join(lines, "\n")
}

// members returns the JSON form of a verdict as a map from field to value.
func members(v runtime.Verdict) map[string]string {
	var raw map[string]json.RawMessage
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &raw)
	}
	fields := map[string]string{}
	for name, value := range raw {
		fields[name] = string(value)
	}
	if err != nil {
		fields["error"] = err.Error()
	}
	return fields
}

func orAbsent(value string) string {
	if value == "" {
		return "(absent)"
	}
	return value
}
