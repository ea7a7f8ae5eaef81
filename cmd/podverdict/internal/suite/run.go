package suite

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/podverdict/podverdict/runtime"
)

// Options say which cases to run.
type Options struct {
	// Selects says of a case, as SUITE/CASE, whether to run it; nil is all.
	Selects func(name string) bool
	// FailFast stops at the first case that fails.
	FailFast bool
	// Step is told of every case that has been run, if it is not nil. It may be called by several at once.
	Step func()
}

// Result is the result of a suite.
type Result struct {
	File, Name string
	// Cases are those that were run, in the order of the suite.
	Cases []CaseResult
	// Coverage is nil when not all cases were run.
	Coverage *Coverage
	// Threshold is what the coverage must be at least, in percent.
	Threshold int
	// Empty is of a suite that has no cases.
	Empty bool
	// Err joins what is wrong with the suite or its files: what was run then may not be all.
	Err error
}

// OK reports whether everything is as expected.
func (r *Result) OK() bool {
	return r.Err == nil && !r.Empty && r.Count(false) == 0 && !r.Uncovered()
}

// Uncovered reports whether the coverage is below the threshold.
func (r *Result) Uncovered() bool { return r.Coverage != nil && r.Coverage.Percent() < r.Threshold }

// Count returns how many cases pass, or fail.
func (r *Result) Count(ok bool) int {
	n := 0
	for i := range r.Cases {
		if r.Cases[i].OK() == ok {
			n++
		}
	}
	return n
}

// managedOnly counts the cases whose verdict takes effect only in a Job that podverdict's controller runs.
func (r *Result) managedOnly() int {
	n := 0
	for i := range r.Cases {
		if r.Cases[i].ManagedOnly {
			n++
		}
	}
	return n
}

// CaseResult is the result of a case.
type CaseResult struct {
	Name    string
	Verdict runtime.Verdict
	Deleted bool
	// ManagedOnly is true for the verdict of a custom policy in a Job that does not say who runs it. It takes effect only
	// where podverdict's controller does.
	ManagedOnly bool
	// Differences are what is not as expected, and Rules what each rule made of the Pod, if there are any.
	Differences []Difference
	Rules       []runtime.RuleExplanation
	// Line is that of the case in the suite, if it fails.
	Line int

	trial *trial
	err   error
}

// OK reports whether the case passes.
func (c *CaseResult) OK() bool { return len(c.Differences) == 0 }

// Run runs the cases that are selected.
func (s *Suite) Run(ctx context.Context, o Options) Result {
	r := Result{File: s.File, Name: s.Name, Empty: len(s.document.Cases) == 0}
	if s.Threshold != nil {
		r.Threshold = *s.Threshold
	}
	var selected []int
	for i := range s.document.Cases {
		if o.Selects == nil || o.Selects(s.Name+"/"+s.document.Cases[i].Name) {
			selected = append(selected, i)
		}
	}
	results := s.runAll(ctx, selected, o)
	errs := []error{s.unread, context.Cause(ctx)}
	all := len(results) == len(s.document.Cases)
	coverage := s.newCoverage()
	for i := range results {
		result := &results[i]
		if result.err != nil {
			errs, all = append(errs, result.err), false
			continue
		}
		coverage.add(result, s.base)
		result.trial = nil
		r.Cases = append(r.Cases, *result)
	}
	if all {
		r.Coverage = coverage
	}
	r.Err = errors.Join(errs...)
	return r
}

// runAll runs cases side by side, and returns the results in their order.
func (s *Suite) runAll(ctx context.Context, selected []int, o Options) []CaseResult {
	results := make([]CaseResult, len(selected))
	workers := min(goruntime.GOMAXPROCS(0), len(selected))
	if o.FailFast {
		workers = min(workers, 1)
	}
	var next, failed atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil && (!o.FailFast || failed.Load() == 0) {
				n := int(next.Add(1)) - 1
				if n >= len(selected) {
					return
				}
				results[n] = s.runCase(ctx, selected[n])
				if results[n].err != nil || !results[n].OK() {
					failed.Add(1)
				}
				if o.Step != nil {
					o.Step()
				}
			}
		})
	}
	group.Wait()
	return results[:min(int(next.Load()), len(selected))]
}

func (s *Suite) runCase(ctx context.Context, i int) CaseResult {
	c := &s.document.Cases[i]
	r := CaseResult{Name: c.Name}
	t, err := s.prepare(ctx, i)
	if err != nil {
		r.err = err
		return r
	}
	o := t.decision(ctx)
	r.trial, r.Verdict, r.Deleted = t, o.verdict, o.deleted
	r.ManagedOnly = t.judge.assumed && o.verdict.Policy != ""
	if r.Differences = c.Expect.differences(o); r.OK() {
		return r
	}
	r.Line = s.origin.Position(caseField(i)).Line
	r.Rules, r.err = t.judge.explain(ctx, t.input, t.audited)
	return r
}

// Unread returns the result of a suite that cannot be read.
func Unread(file string, err error) Result {
	return Result{File: file, Name: called(file), Err: err}
}
