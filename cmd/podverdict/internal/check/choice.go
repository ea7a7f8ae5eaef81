package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// choice says which findings the user wants.
type choice struct {
	// only are the ids of rules to report. Skip are those to leave out.
	only, skip []string
	// named are guardrails that are on although they are off in the recommended set.
	named []string
	// severities replace those of rules, by id.
	severities map[string]string

	also []string // ids that are reported where they are found, beside those of only
}

// alsoFound are constraints and guardrails that the compiler finds, too: the group of failure rules includes them.
var alsoFound = []string{
	compiler.CheckFailIndexLimit, compiler.CheckDisruptionOrder, compiler.CheckDisruptionFatal, compiler.CheckSidecar, compiler.CheckUnboundedIgnore,
}

// byDefault are the groups that are reported without a choice. Guardrails are a platform's choice.
var byDefault = []string{string(catalogue.Constraints), string(catalogue.Rules), string(catalogue.Input)}

// newChoice resolves the names of groups, ids and aliases. It refuses other names.
func newChoice(only, skip []string) (c choice, err error) {
	if c.only, err = resolved("only", only); err != nil {
		return c, err
	}
	if slices.Contains(only, string(catalogue.Rules)) {
		c.also = alsoFound
	}
	for _, name := range only {
		if rule, ok := catalogue.Find(name); ok && rule.Group == catalogue.Guardrails {
			c.named = append(c.named, rule.ID)
		}
	}
	c.skip, err = resolved("skip", skip)
	return c, err
}

func resolved(flag string, names []string) (ids []string, err error) {
	for _, name := range names {
		named := catalogue.Named(name)
		if named == nil {
			return nil, fmt.Errorf("--%s %s: %s", flag, name, unknownName(name))
		}
		ids = append(ids, named...)
	}
	return ids, nil
}

// asks reports whether a rule of a group is asked.
func (c choice) asks(group catalogue.Group) bool {
	return slices.ContainsFunc(catalogue.All(), func(r catalogue.Rule) bool {
		return r.Group == group && slices.Contains(c.only, r.ID) && !slices.Contains(c.skip, r.ID)
	})
}

// decides reports whether the Rego bundle is asked about a guardrail.
func (c choice) decides(id string) bool {
	rule, _ := catalogue.Find(id)
	return rule.Group == catalogue.Guardrails && slices.Contains(c.only, id)
}

// unknownRule says that an id names no rule, and which one may be meant.
func unknownRule(id string) string {
	return "there is no such rule" + didyoumean.Near(id, catalogue.IDs())
}

// unknownName says that a name is of no rule and no group, and which one may be meant.
func unknownName(name string) string {
	return "there is no such rule or group of rules" + didyoumean.Near(name, catalogue.Names())
}

// apply leaves out the findings that the user does not want, and those that comments and annotations ignore. It adds
// findings about ignores that are wrong or not needed.
func (c choice) apply(subjects []findings.Subject, set *manifest.Set) []findings.Subject {
	ignores := newIgnores(set)
	for i := range subjects {
		c.applyTo(&subjects[i], ignores)
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
func subjectIn(subjects []findings.Subject, d *manifest.Document) *findings.Subject {
	i := slices.IndexFunc(subjects, func(s findings.Subject) bool { return s.File == d.File })
	return &subjects[max(i, 0)]
}

func (c choice) applyTo(s *findings.Subject, ignores *ignores) {
	var kept []findings.Finding
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
func (c choice) wants(f findings.Finding) (findings.Finding, bool) {
	f.Severity = cmp.Or(c.severities[f.Check], f.Severity)
	return f, !c.leavesOut(f.Check)
}

// leavesOut reports whether findings of a rule are left out. With only, what cannot be read is a finding still.
func (c choice) leavesOut(id string) bool {
	named := id == checkUnreadable || slices.Contains(c.only, id) || slices.Contains(c.also, id)
	return !named || slices.Contains(c.skip, id)
}
