package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Draft is a suite for policies that have none: for every rule a case in which it decides, as far as a Pod could be found
// for which it does, and cases for which rules do not match. What is expected is what the verdicts are.
type Draft struct {
	// Cases is how many there are, and Coverage what they have tried.
	Cases    int
	Coverage *Coverage
	// Text is the suite's.
	Text []byte
}

// DraftOf writes a suite that is to stand at file, of files with policies, a Job and Pods.
func (l *Loader) DraftOf(ctx context.Context, file string, inputs []string) (*Draft, error) {
	s := &Suite{
		File: file, Name: called(file), tree: map[string]any{},
		origin: manifest.Origin{Document: &manifest.Document{File: file}},
	}
	if err := s.assign(ctx, inputs); err != nil {
		return nil, err
	}
	err := l.load(ctx, s)
	if s.document.Job == "" && len(s.document.Policies) > 0 && (err != nil || len(s.base.order) == 0) {
		// No Job of a platform is there for bindings to select.
		s.document.IgnoreBindings = true
		err = l.load(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	d := drafting{suite: s, coverage: s.newCoverage(), names: map[string]bool{}}
	d.found = make([]found, len(d.coverage.Rules))
	d.try(ctx)
	d.choose()
	switch {
	case len(d.chosen) > 0:
	case len(s.base.order) == 0 && s.base.policy == nil:
		return nil, fmt.Errorf("%s: no case was found: no policy applies to Job %s/%s; give one with -f that bindings and match conditions select",
			file, s.base.job.Namespace, cmp.Or(s.base.job.Name, s.base.job.GenerateName))
	default:
		return nil, fmt.Errorf("%s: no case was found: every rule fails on every Pod that was tried", file)
	}
	text, err := d.text()
	return &Draft{Cases: len(d.chosen), Coverage: d.coverage, Text: text}, err
}

// assign finds out what is in each file, and adds it to the suite.
func (s *Suite) assign(ctx context.Context, inputs []string) error {
	var errs []error
	for _, name := range inputs {
		set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{name}})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		named, err := relative(filepath.Dir(s.File), name)
		errs = append(errs, err)
		if len(set.Policies)+len(set.Bindings)+len(set.Namespaces) > 0 {
			s.document.Policies = append(s.document.Policies, named)
		}
		if len(set.Pods) > 0 {
			s.document.Pods = append(s.document.Pods, named)
		}
		switch {
		case len(set.Jobs) == 0:
		case s.document.Job != "":
			errs = append(errs, fmt.Errorf("%s: there is a Job in %s already, and a suite is for one", name, s.document.Job))
		default:
			s.document.Job = named
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(s.document.Policies) == 0 && s.document.Job == "" {
		return errors.New("no PodFailurePolicy and no Job in the input: there is nothing to test")
	}
	return nil
}

// relative returns the name of a file for a suite in a directory.
func relative(dir, name string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	name, err = filepath.Rel(from, to)
	return filepath.ToSlash(name), err
}

// drafting chooses cases among candidates.
type drafting struct {
	suite    *Suite
	found    []found // for each rule
	chosen   []candidate
	coverage *Coverage
	names    map[string]bool
}

// found are the first candidates on which a rule decides, and on which it does not match.
type found struct{ matched, notMatched *candidate }

// candidate is a possible case with its verdict.
type candidate struct {
	written  caseDocument
	pod      map[string]any // the delta, as the file has it
	decision decision
	result   CaseResult
}

// try runs candidates until each rule has decided one and has not matched another, and keeps the first ones that show this.
func (d *drafting) try(ctx context.Context) {
	alone := d.suite.newCoverage()
	for _, c := range d.suite.candidates() {
		d.suite.document.Cases = []caseDocument{c.written}
		d.suite.tree["cases"] = []any{map[string]any{"pod": c.pod}}
		t, err := d.suite.prepare(ctx, 0)
		if err != nil {
			continue // a scenario need not fit every Job
		}
		c.decision = t.decision(ctx)
		v := c.decision.verdict
		if v.Retry != nil {
			c.decision.next = t.next(c.decision)
		}
		if c.decision.err != nil || v.MessageErr != nil || !v.Terminal && !v1alpha1.Lives(v1alpha1.PhaseOf(t.input.Pod)) {
			continue
		}
		c.result = CaseResult{Verdict: v, Ended: c.decision.ended, trial: t}
		if d.keep(&c, alone); d.complete() {
			return
		}
	}
}

// keep keeps a candidate if it is the first to try something. alone is the coverage of one candidate.
func (d *drafting) keep(c *candidate, alone *Coverage) {
	for i := range alone.Rules {
		alone.Rules[i].Matched, alone.Rules[i].NotMatched = 0, 0
	}
	alone.add(&c.result, d.suite.base)
	for i := range alone.Rules {
		if d.found[i].matched == nil && alone.Rules[i].Matched > 0 {
			d.found[i].matched = c
		}
		if d.found[i].notMatched == nil && alone.Rules[i].NotMatched > 0 {
			d.found[i].notMatched = c
		}
	}
}

// complete reports whether every rule has been tried both ways.
func (d *drafting) complete() bool {
	for i := range d.found {
		if d.found[i].matched == nil || d.found[i].notMatched == nil && !d.coverage.Rules[i].Always {
			return false
		}
	}
	return true
}

// choose takes the first candidate for everything that there is to try.
func (d *drafting) choose() {
	for i := range d.coverage.Rules {
		rule := d.coverage.Rules[i]
		if d.found[i].matched == nil {
			continue
		}
		c := *d.found[i].matched
		d.take(c)
		if budget := c.decision.verdict.Budget; budget.Limit > 0 {
			used := c
			name := rule.Name
			if len(d.suite.rulebook.policies) > 1 {
				name = rule.Policy + "/" + name
			}
			used.written.Matches = map[string]int32{name: budget.Limit}
			used.decision.verdict, used.decision.next = c.decision.verdict.UsedUp(), nil
			used.result.Verdict = used.decision.verdict
			d.take(used)
		}
	}
	for i := range d.coverage.Rules {
		if d.coverage.Rules[i].NotMatched > 0 || d.coverage.Rules[i].Always {
			continue
		}
		if c := d.found[i].notMatched; c != nil {
			d.take(*c)
		}
	}
}

func (d *drafting) take(c candidate) {
	c.written.Name = c.name()
	if d.names[c.written.Name] {
		return
	}
	d.names[c.written.Name] = true
	d.coverage.add(&c.result, d.suite.base)
	d.chosen = append(d.chosen, c)
}

// name returns the name of the case: what happens, and which rule decides.
func (c *candidate) name() string {
	v := &c.decision.verdict
	text := cmp.Or(c.written.From, defaultScenario) + ": "
	switch {
	case v.IsUsedUp():
		return text + v.Subject() + " has used up its budget"
	case v.Matched:
		return text + v.Subject() + " decides"
	}
	return text + "no rule matches"
}
