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

// Options selects the cases to run.
type Options struct {
	// Selects reports whether to run the case named SUITE/CASE. Nil runs all cases.
	Selects func(name string) bool
	// Step, if not nil, is called after each case. Calls may be concurrent.
	Step func()
}

// Result is the result of a suite. Its JSON form is a stable format for other programs.
type Result struct {
	Name string `json:"name"`
	File string `json:"file"`
	// OK reports whether the suite passed.
	OK bool `json:"ok"`
	// Errors are the messages of the errors joined in Err.
	Errors []string `json:"errors,omitempty"`
	// Faults describe failures of the suite as a whole, such as low coverage.
	Faults []string `json:"faults,omitempty"`
	// Cases are the cases that were run, in the order of the suite.
	Cases []CaseResult `json:"cases"`
	// Coverage is nil if not all cases were run.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Err joins the errors in the suite or its files. If it is set, some cases may not have run.
	Err error `json:"-"`
}

// fail records errors in the suite or its files.
func (r *Result) fail(err error) {
	r.Err = err
	for _, one := range manifest.EachError(err) {
		r.OK, r.Errors = false, append(r.Errors, one.Error())
	}
}

// fault records a failure of the suite as a whole.
func (r *Result) fault(text string) { r.OK, r.Faults = false, append(r.Faults, text) }

// count returns the number of cases for which a condition is true.
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
	// Line is the line of a failed case in the suite.
	Line    int             `json:"line,omitempty"`
	Verdict runtime.Verdict `json:"verdict"`
	// Ended reports whether a living Pod is ended. If a rule matches but the Pod is not ended, Spared gives the reason.
	Ended  bool   `json:"ended,omitempty"`
	Spared string `json:"spared,omitempty"`
	// ManagedOnly is true if a custom policy decided and the Job has no managedBy. The verdict takes effect only if podverdict's controller
	// runs the Job.
	ManagedOnly bool `json:"managedOnly,omitempty"`
	// Differences are the fields that are not as expected. Rules are the outcomes of the rules, set if there are differences.
	Differences []Difference `json:"differences,omitempty"`
	Rules       []RuleResult `json:"rules,omitempty"`

	trial *trial
	err   error
}

// RuleResult is the outcome of a rule for the Pod of a failed case.
type RuleResult struct {
	ruleID

	Outcome runtime.Outcome `json:"outcome"`
	Because string          `json:"because"`
	Error   string          `json:"error,omitempty"`

	holds bool
}

// Run runs the selected cases.
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

// runAll runs cases concurrently and returns the results in case order.
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
