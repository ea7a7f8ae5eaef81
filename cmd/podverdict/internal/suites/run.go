package suites

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
)

// Options say which cases to run.
type Options struct {
	// Selects says of a case, as SUITE/CASE, whether to run it; nil is all.
	Selects func(name string) bool
	// Step is told of every case that has been run, if it is not nil. It may be called by several at once.
	Step func()
}

// Result is the result of a suite. Its JSON form is a contract with other programs.
type Result struct {
	Name string `json:"name"`
	File string `json:"file"`
	// OK is whether everything is as expected.
	OK bool `json:"ok"`
	// Errors are those of Err, one by one.
	Errors []string `json:"errors,omitempty"`
	// Faults say what is wrong besides cases.
	Faults []string `json:"faults,omitempty"`
	// Cases are those that were run, in the order of the suite.
	Cases []CaseResult `json:"cases"`
	// Coverage is nil when not all cases were run.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Err joins what is wrong with the suite or its files: what was run then may not be all.
	Err error `json:"-"`
}

// fail adds what is wrong with the suite or its files.
func (r *Result) fail(err error) {
	r.Err = err
	for _, one := range manifest.EachError(err) {
		r.OK, r.Errors = false, append(r.Errors, one.Error())
	}
}

// fault adds what is wrong besides cases.
func (r *Result) fault(text string) { r.OK, r.Faults = false, append(r.Faults, text) }

// count returns how many cases there are for which a condition is true.
func (r *Result) count(is func(*CaseResult) bool) int {
	n := 0
	for i := range r.Cases {
		if is(&r.Cases[i]) {
			n++
		}
	}
	return n
}

// CaseResult is the result of a case.
type CaseResult struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Line is that of the case in the suite, if it fails.
	Line    int             `json:"line,omitempty"`
	Verdict runtime.Verdict `json:"verdict"`
	// Ended is whether a Pod that lives is ended. If it is not, though a rule matches, Spared says why.
	Ended  bool   `json:"ended,omitempty"`
	Spared string `json:"spared,omitempty"`
	// ManagedOnly is true for the verdict of a custom policy in a Job that does not say who runs it. It takes effect only
	// where podverdict's controller does.
	ManagedOnly bool `json:"managedOnly,omitempty"`
	// Differences are what is not as expected, and Rules what each rule made of the Pod, if there are any.
	Differences []Difference `json:"differences,omitempty"`
	Rules       []RuleResult `json:"rules,omitempty"`

	trial *trial
	err   error
}

// RuleResult is what a rule made of the Pod of a case that fails.
type RuleResult struct {
	ruleID

	Outcome runtime.Outcome `json:"outcome"`
	Because string          `json:"because"`
	Error   string          `json:"error,omitempty"`

	holds bool
}

// Run runs the cases that are selected.
func (s *Suite) Run(ctx context.Context, o Options) Result {
	r := Result{File: s.File, Name: s.Name, OK: true, Cases: []CaseResult{}}
	if len(s.document.Cases) == 0 {
		r.fault("there are no cases")
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
		r.OK = r.OK && result.OK
	}
	if all {
		r.Coverage = coverage
		if coverage.isTooLow() {
			r.fault(fmt.Sprintf("coverage is %d%%, and should be %d%%", coverage.Percent(), coverage.Threshold))
		}
	}
	r.fail(errors.Join(errs...))
	return r
}

// runAll runs cases side by side, and returns the results in their order.
func (s *Suite) runAll(ctx context.Context, selected []int, o Options) []CaseResult {
	results := make([]CaseResult, len(selected))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(selected)) {
		group.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(selected) {
					return
				}
				results[n] = s.runCase(ctx, selected[n])
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
	r.trial, r.Verdict, r.Ended, r.Spared = t, o.verdict, o.ended, o.spared
	r.ManagedOnly = t.judge.assumed && o.verdict.Policy != ""
	if c.Expect.Retry != nil {
		o.next = t.next(o)
	}
	r.Differences = c.Expect.differences(o)
	if r.OK = len(r.Differences) == 0; r.OK {
		return r
	}
	r.Line = s.origin.Position(caseField(i)).Line
	rules, err := t.judge.explain(ctx, t.input(), t.audited)
	for _, rule := range rules {
		r.Rules = append(r.Rules, RuleResult{ruleID{rule.Policy, rule.Rule, rule.RuleName}, rule.Outcome, rule.Because, rule.Error, rule.Holds})
	}
	r.err = err
	return r
}

// Unread returns the result of a suite that cannot be read.
func Unread(file string, err error) Result {
	r := Result{File: file, Name: called(file), Cases: []CaseResult{}}
	r.fail(err)
	return r
}
