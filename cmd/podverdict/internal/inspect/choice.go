package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/hint"
)

// Choice says which findings the user wants.
type Choice struct {
	// Only are the ids of rules to report; none means all. Skip are those to leave out.
	Only, Skip []string
	// Severities replace those of rules, by id.
	Severities map[string]string
	// All says that every rule was asked, so that an ignore that nothing needs can be told.
	All bool
}

// NewChoice resolves aliases. It refuses ids of no rule.
func NewChoice(only, skip []string) (Choice, error) {
	c := Choice{Severities: map[string]string{}}
	var err error
	if c.Only, err = resolved(only); err != nil {
		return c, fmt.Errorf("--only %w", err)
	}
	if c.Skip, err = resolved(skip); err != nil {
		return c, fmt.Errorf("--skip %w", err)
	}
	return c, nil
}

func resolved(ids []string) ([]string, error) {
	all := make([]string, len(ids))
	for i, id := range ids {
		rule, ok := catalogue.Find(id)
		if !ok {
			return nil, fmt.Errorf("%s: %s", id, UnknownRule(id))
		}
		all[i] = rule.ID
	}
	return all, nil
}

// UnknownRule says that an id names no rule, and which one may be meant.
func UnknownRule(id string) string {
	message := "there is no such rule"
	if meant := hint.Name(id, catalogue.IDs()); meant != "" {
		message += ", " + hint.DidYouMean(meant)
	}
	return message
}

// Apply leaves out the findings that the user does not want, and those that comments and annotations ignore. It adds
// findings about ignores that are wrong or not needed.
func (c Choice) Apply(subjects []report.Subject, set *manifest.Set) []report.Subject {
	ignores := newIgnores(set)
	for i := range subjects {
		c.apply(&subjects[i], ignores)
	}
	for _, f := range ignores.findings(c) {
		if f, wanted := c.wants(f); wanted {
			s := subjectIn(subjects, f.Document)
			s.Findings = append(s.Findings, f)
			inFileOrder(s.Findings)
		}
	}
	return subjects
}

// subjectIn returns the subject that stands for a document: the first one that was read in its file.
func subjectIn(subjects []report.Subject, d *manifest.Document) *report.Subject {
	i := slices.IndexFunc(subjects, func(s report.Subject) bool { return s.File == d.File })
	return &subjects[max(i, 0)]
}

func (c Choice) apply(s *report.Subject, ignores *ignores) {
	var kept []report.Finding
	for _, f := range s.Findings {
		f, wanted := c.wants(f)
		switch {
		case !wanted:
		case ignores.match(s, &f):
			s.Ignored = append(s.Ignored, f)
		default:
			kept = append(kept, f)
		}
	}
	s.Findings = kept
}

// wants grades a finding, and tells whether it is to be reported.
func (c Choice) wants(f report.Finding) (report.Finding, bool) {
	f.Severity = cmp.Or(c.Severities[f.Check], f.Severity)
	return f, !c.leavesOut(f.Check)
}

func (c Choice) leavesOut(id string) bool {
	return len(c.Only) > 0 && !slices.Contains(c.Only, id) || slices.Contains(c.Skip, id)
}
