package conformance

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// Options of a run. The zero value runs all vectors and expects them to pass.
type Options struct {
	// Engine is the engine's name, for the report.
	Engine string
	// Features are those that the engine supports; vectors that need another one
	// are reported as not supported. Empty means all.
	Features []Feature
	// Select leaves out the vectors whose names it does not match.
	Select *regexp.Regexp
	// Kubernetes leaves out the vectors that ask for another minor version; empty
	// leaves out none.
	Kubernetes string
	// ExpectedFailures are names of vectors that must not pass.
	ExpectedFailures []string
}

// Outcome is what a vector came to.
type Outcome string

// The outcomes. Failed, Errored and Unexpected are failures of the run.
const (
	Passed       Outcome = "passed"
	Failed       Outcome = "failed"           // another verdict than the wanted one
	Errored      Outcome = "error"            // no verdict
	Expected     Outcome = "expected failure" // failed or error, and known to
	Unexpected   Outcome = "unexpected pass"  // passed, but an expected failure
	NotSupported Outcome = "not supported"    // not asked
)

// OK reports whether the outcome is no failure of the run.
func (o Outcome) OK() bool { return o == Passed || o == Expected || o == NotSupported }

// Result is what one vector came to.
type Result struct {
	Vector  Vector
	Outcome Outcome
	// Detail says why the outcome is what it is, over several lines; it is empty
	// for Passed.
	Detail   string
	Duration time.Duration
}

// Run asks the engine the question of every selected vector, one after the other,
// and compares message text too. An engine that panics is an outcome. The error is
// about the run: nothing to ask, an expected failure that is no vector, or a
// context that is done.
func Run(ctx context.Context, engine Engine, vectors []Vector, o Options) (Report, error) {
	if err := areVectors(o.ExpectedFailures, vectors); err != nil {
		return Report{}, err
	}
	r := Report{Engine: o.Engine}
	asked := 0
	for _, v := range vectors {
		if !o.selects(v) {
			continue
		}
		if missing := unsupported(v, o.Features); len(missing) > 0 {
			r.Results = append(r.Results, Result{Vector: v, Outcome: NotSupported, Detail: "needs " + joined(missing)})
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

func ask(ctx context.Context, engine Engine, v Vector, expected bool) Result {
	start := time.Now()
	got, err := guarded(ctx, engine, v.Request())
	r := Result{Vector: v, Outcome: Passed, Duration: time.Since(start)}
	switch {
	case err != nil:
		r.Outcome, r.Detail = Errored, err.Error()
	case !got.Equal(v.Want):
		// What the JSON form does not say makes no difference.
		if r.Detail = difference(got, v.Want); r.Detail != "" {
			r.Outcome = Failed
		}
	}
	switch {
	case expected && r.Outcome == Passed:
		r.Outcome, r.Detail = Unexpected, "is listed as an expected failure"
	case expected:
		r.Outcome = Expected
	}
	return r
}

// guarded asks an engine that may panic. The engine gets a request of its own, so
// that one that changes it cannot spoil the vectors of the next engine.
func guarded(ctx context.Context, engine Engine, r Request) (v runtime.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errPanic(p)
		}
	}()
	if engine == nil {
		return runtime.Verdict{}, errNoEngine
	}
	return engine(ctx, Request{Kubernetes: r.Kubernetes, Policy: r.Policy.DeepCopy(), Pod: r.Pod.DeepCopy()})
}
