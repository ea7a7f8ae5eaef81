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

// choice selects the findings to report.
type choice struct {
	// only holds the ids of rules to report, and skip the ids to omit.
	only, skip []string
	// named holds guardrails that the user names by id. They are on even if the recommended set leaves them off.
	named []string
	// severities overrides the severities of rules, by id.
	severities map[string]string

	also []string // ids reported in addition to only, wherever they are found
}

// alsoFound are constraints and guardrails that the compiler finds as well. The group of failure rules includes them.
var alsoFound = []string{
	compiler.CheckFailIndexLimit, compiler.CheckDisruptionOrder, compiler.CheckDisruptionFatal, compiler.CheckSidecar, compiler.CheckUnboundedIgnore,
}

// byDefault are the groups that are reported by default. Guardrails are off, because they are a platform's choice.
var byDefault = []string{string(catalogue.Constraints), string(catalogue.Rules), string(catalogue.Input)}

// newChoice resolves groups, ids and aliases. It returns an error for unknown names.
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

// asks reports whether at least one rule of a group is selected.
func (c choice) asks(group catalogue.Group) bool {
	return slices.ContainsFunc(catalogue.All(), func(r catalogue.Rule) bool {
		return r.Group == group && slices.Contains(c.only, r.ID) && !slices.Contains(c.skip, r.ID)
	})
}

// decides reports whether the Rego bundle evaluates a guardrail.
func (c choice) decides(id string) bool {
	rule, _ := catalogue.Find(id)
	return rule.Group == catalogue.Guardrails && slices.Contains(c.only, id)
}

// unknownRule returns a message for an unknown rule id, with similar ids.
func unknownRule(id string) string {
	return "there is no such rule" + didyoumean.Near(id, catalogue.IDs())
}

// unknownName returns a message for an unknown rule or group, with similar names.
func unknownName(name string) string {
	return "there is no such rule or group of rules" + didyoumean.Near(name, catalogue.Names())
}

// apply drops findings that are not selected, and moves those ignored by comments and annotations to Ignored. It adds findings about
// ignores that are invalid or unused.
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

// subjectIn returns the subject that gets a document's findings: the first one read from the same file.
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

// wants sets the severity of a finding, and reports whether to include it.
func (c choice) wants(f findings.Finding) (findings.Finding, bool) {
	f.Severity = cmp.Or(c.severities[f.Check], f.Severity)
	return f, !c.leavesOut(f.Check)
}

// leavesOut reports whether to omit findings of a rule. Unreadable input is reported even with only.
func (c choice) leavesOut(id string) bool {
	named := id == checkUnreadable || slices.Contains(c.only, id) || slices.Contains(c.also, id)
	return !named || slices.Contains(c.skip, id)
}
