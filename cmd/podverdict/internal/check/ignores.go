package check

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// ignorePrefix is the prefix of annotations that ignore findings: ignore.podverdict.io/ID: reason.
const ignorePrefix = "ignore.podverdict.io/"

// Checks of ignores.
const (
	checkNoReason    = "ignore-without-reason"
	checkUnknownRule = "ignore-unknown-rule"
	checkUnused      = "ignore-unused"
)

// ignores are the ignoring comments and annotations of an input.
type ignores struct {
	all   []ignore
	wrong []findings.Finding
}

type ignore struct {
	manifest.Ignore

	origin manifest.Origin
	field  string // field of the annotation; "" for a comment
	used   bool
}

// newIgnores reads the ignores from the documents and objects of an input. Ignores without effect become findings.
func newIgnores(set *manifest.Set) *ignores {
	i := &ignores{}
	seen := map[*manifest.Document]bool{}
	add := func(o manifest.Origin, object metav1.Object) {
		if !seen[o.Document] {
			seen[o.Document] = true
			for _, found := range o.Document.Ignores() {
				i.add(ignore{Ignore: found, origin: manifest.Origin{Document: o.Document}})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(object.GetAnnotations())) {
			if id, ok := strings.CutPrefix(key, ignorePrefix); ok {
				field := manifest.FieldOfKey("metadata.annotations", key)
				found := manifest.Ignore{ID: id, Reason: strings.TrimSpace(object.GetAnnotations()[key]), At: o.Position(field)}
				i.add(ignore{Ignore: found, origin: o, field: field})
			}
		}
	}
	for _, job := range set.Jobs {
		add(job.Origin, job.Object)
		if job.CronJob != nil {
			add(job.Whole(), job.CronJob)
		}
	}
	for _, p := range set.Policies {
		add(p.Origin, p.Object)
	}
	for _, b := range set.Bindings {
		add(b.Origin, b.Object)
	}
	return i
}

func (i *ignores) add(found ignore) {
	rule, known := catalogue.Find(found.ID)
	switch {
	case found.Reason == "" && found.field != "":
		i.warn(found, checkNoReason, "ignores nothing without a reason, which is the annotation's value")
	case found.Reason == "":
		i.warn(found, checkNoReason, "ignores nothing without a reason: write # podverdict:ignore ID reason")
	case !known:
		i.warn(found, checkUnknownRule, found.ID+": "+unknownRule(found.ID))
	default:
		found.ID = rule.ID
		i.all = append(i.all, found)
	}
}

func (i *ignores) warn(found ignore, check, message string) {
	f := findings.Finding{Check: check, Severity: string(compiler.Warning), Field: found.field, Message: message}
	i.wrong = append(i.wrong, f.Placed(found.origin, found.At))
}

// match reports whether an ignore covers a finding, and copies the ignore's reason to the finding.
func (i *ignores) match(s *findings.Subject, f *findings.Finding) bool {
	for n := range i.all {
		g := &i.all[n]
		if g.ID == f.Check && g.covers(s, f) {
			g.used, f.Reason = true, g.Reason
			return true
		}
	}
	return false
}

// covers reports whether an ignore covers the position of a finding. A comment covers its place in the document, an annotation its
// object.
func (g *ignore) covers(s *findings.Subject, f *findings.Finding) bool {
	if f.Document != g.origin.Document || s.File != g.origin.Document.File {
		return false
	}
	if g.field == "" {
		return g.Covers(f.At)
	}
	return strings.HasPrefix(f.Field, g.origin.Path)
}

// findings returns findings about invalid and unused ignores. Call it after all other findings were matched.
func (i *ignores) findings(c choice) []findings.Finding {
	for _, g := range i.all {
		if !g.used && !c.leavesOut(g.ID) {
			i.warn(g, checkUnused, "nothing to ignore: "+g.ID+" is not found here")
		}
	}
	return i.wrong
}
