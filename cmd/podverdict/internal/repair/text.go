package repair

import (
	"context"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
)

// Options say how texts are read and judged.
type Options struct {
	// Inspect reads a text and returns what is wrong with it.
	Inspect func(ctx context.Context, text string) (*manifest.Set, []report.Subject, error)
	// Parameter returns a number that a guardrail compares with, by the id of its rule and the name of the parameter.
	Parameter func(rule, name string) (int64, bool)
	// Environment compiles the rules that are compared.
	Environment *compiler.Environment
}

// Done is a finding that a repair has removed.
type Done struct {
	Finding report.Finding
	Subject report.Subject
}

// maxRepairs bounds how often a text is changed.
const maxRepairs = 1000

// Text returns a text with all repairs that can be made, and what they have removed. Without repairs it is the same text.
func Text(ctx context.Context, text string, o Options) (string, []Done, error) {
	var all []Done
	given := map[string]bool{} // repairs that were tried and do not do
	for range maxRepairs {
		set, subjects, err := o.Inspect(ctx, text)
		if err != nil {
			return text, all, err
		}
		fixed, done, err := o.once(ctx, text, set, subjects, given)
		if err != nil || done == nil {
			return text, all, err
		}
		text, all = fixed, append(all, *done)
	}
	return text, all, nil
}

// once makes the first repair that can be made. It returns nil when there is none.
func (o Options) once(ctx context.Context, text string, set *manifest.Set, subjects []report.Subject, given map[string]bool) (string, *Done, error) {
	lines := strings.Split(text, "\n")
	for i, job := range set.Jobs {
		for _, f := range subjects[i].Findings {
			repair, ok := repairs[f.Check]
			key := f.Check + " " + f.Field + " " + subjects[i].Namespace + "/" + subjects[i].Name
			if !ok || given[key] {
				continue
			}
			given[key] = true
			changed, ok := repair(o, lines, job, f)
			if !ok {
				continue
			}
			fixed := strings.Join(changed, "\n")
			after, found, err := o.Inspect(ctx, fixed)
			if err != nil {
				return "", nil, err
			}
			if gone(f, found, i) && len(after.Jobs) == len(set.Jobs) && o.proven(ctx, set, after, i, f) {
				delete(given, key) // the next finding may have the same place
				return fixed, &Done{f, subjects[i]}, nil
			}
		}
	}
	return "", nil, nil
}

// gone tells whether a finding is not there any more, or is there less often.
func gone(f report.Finding, found []report.Subject, i int) bool {
	return i < len(found) && !slices.ContainsFunc(found[i].Findings, func(other report.Finding) bool {
		return other.Check == f.Check && other.Field == f.Field && other.Message == f.Message
	})
}
