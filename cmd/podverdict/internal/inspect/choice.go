package inspect

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

// Choice says which findings the user wants.
type Choice struct {
	// Only are the ids of rules to report. Skip are those to leave out.
	Only, Skip []string
	// Named are guardrails that are on although they are off in the recommended set.
	Named []string
	// Severities replace those of rules, by id.
	Severities map[string]string

	also []string // ids that are reported where they are found, beside those of Only
}

// alsoFound are constraints and guardrails that the compiler finds, too: the group of failure rules includes them.
var alsoFound = []string{
	compiler.CheckFailIndexLimit, compiler.CheckDisruptionOrder, compiler.CheckDisruptionFatal, compiler.CheckSidecar, compiler.CheckUnboundedIgnore,
}

// byDefault are the groups that are reported without a choice. Guardrails are a platform's choice.
var byDefault = []string{string(catalogue.Constraints), string(catalogue.Rules), string(catalogue.Input)}

// newChoice resolves the names of groups, ids and aliases. It refuses other names.
func newChoice(only, skip []string) (c Choice, err error) {
	if c.Only, err = resolved("only", only); err != nil {
		return c, err
	}
	if slices.Contains(only, string(catalogue.Rules)) {
		c.also = alsoFound
	}
	for _, name := range only {
		if rule, ok := catalogue.Find(name); ok && rule.Group == catalogue.Guardrails {
			c.Named = append(c.Named, rule.ID)
		}
	}
	c.Skip, err = resolved("skip", skip)
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

// Asks reports whether a rule of a group is asked.
func (c Choice) Asks(group catalogue.Group) bool {
	return slices.ContainsFunc(catalogue.All(), func(r catalogue.Rule) bool {
		return r.Group == group && slices.Contains(c.Only, r.ID) && !slices.Contains(c.Skip, r.ID)
	})
}

// Decides reports whether the Rego bundle is asked about a guardrail.
func (c Choice) Decides(id string) bool {
	rule, _ := catalogue.Find(id)
	return rule.Group == catalogue.Guardrails && slices.Contains(c.Only, id)
}

// UnknownRule says that an id names no rule, and which one may be meant.
func UnknownRule(id string) string {
	return "there is no such rule" + didyoumean.Near(id, catalogue.IDs())
}

// unknownName says that a name is of no rule and no group, and which one may be meant.
func unknownName(name string) string {
	return "there is no such rule or group of rules" + didyoumean.Near(name, catalogue.Names())
}

// Apply leaves out the findings that the user does not want, and those that comments and annotations ignore. It adds
// findings about ignores that are wrong or not needed.
func (c Choice) Apply(subjects []findings.Subject, set *manifest.Set) []findings.Subject {
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
func subjectIn(subjects []findings.Subject, d *manifest.Document) *findings.Subject {
	i := slices.IndexFunc(subjects, func(s findings.Subject) bool { return s.File == d.File })
	return &subjects[max(i, 0)]
}

func (c Choice) apply(s *findings.Subject, ignores *ignores) {
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
func (c Choice) wants(f findings.Finding) (findings.Finding, bool) {
	f.Severity = cmp.Or(c.Severities[f.Check], f.Severity)
	return f, !c.leavesOut(f.Check)
}

// leavesOut reports whether findings of a rule are left out. With Only, what cannot be read is a finding still.
func (c Choice) leavesOut(id string) bool {
	named := id == checkUnreadable || slices.Contains(c.Only, id) || slices.Contains(c.also, id)
	return !named || slices.Contains(c.Skip, id)
}
