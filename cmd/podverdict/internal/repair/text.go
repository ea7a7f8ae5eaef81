package repair

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Options say how texts are read and judged.
type Options struct {
	// Inspect reads a text and returns what is wrong with it.
	Inspect func(ctx context.Context, text string) (*manifest.Set, []findings.Subject, error)
	// Parameter returns a number that a guardrail compares with, by the id of its rule and the name of the parameter.
	Parameter func(rule, name string) (int64, bool)
	// Environment compiles the rules that are compared.
	Environment *compiler.Environment
	// Suggest proposes limits, too.
	Suggest bool
	// Written has findings that are left placed in the new text, not in the given one.
	Written bool
}

// Result is a text with all repairs that can be made.
type Result struct {
	Text string
	Done int // findings that are gone
	Left []Left
}

// Left is a finding that a repair is for, and why it is not made.
type Left struct {
	Finding findings.Finding
	Reason  error
}

var (
	errChanges = errors.New("it would change the verdict on other failures")
	errLives   = errors.New("it would change how the Job ends, or when")
	errUseless = errors.New("it would not help")
)

// maxRepairs bounds how often a text is changed.
const maxRepairs = 1000

// reading is a text with what stands in it and is wrong with it.
type reading struct {
	text     string
	set      *manifest.Set
	subjects []findings.Subject
}

func (o Options) read(ctx context.Context, text string) (reading, error) {
	set, subjects, err := o.Inspect(ctx, text)
	return reading{text, set, subjects}, err
}

// Text makes all repairs that can be made in a text.
func Text(ctx context.Context, text string, o Options) (Result, error) {
	given, err := o.read(ctx, text)
	now, r := given, Result{}
	reasons := map[string]error{} // by finding, of the repairs that cannot be made
	for changed := true; changed && err == nil && r.Done < maxRepairs; {
		if now, changed, err = o.once(ctx, now, reasons); changed {
			r.Done++
		}
	}
	if o.Written {
		given = now
	}
	r.Text, r.Left = now.text, o.left(given, reasons)
	return r, err
}

// once makes the first repair that can be made and was not tried in vain.
func (o Options) once(ctx context.Context, now reading, reasons map[string]error) (after reading, changed bool, err error) {
	lines := strings.Split(now.text, "\n")
	for i, job := range now.set.Jobs {
		for _, f := range now.subjects[i].Findings {
			repair, key := o.repairOf(job, f), keyOf(now.subjects[i], f)
			if repair == nil || reasons[key] != nil {
				continue
			}
			text, refused := repair(o, source{now.text, lines, job.Origin}, job, f)
			if refused != nil {
				reasons[key] = refused
				continue
			}
			if after, err = o.read(ctx, text); err != nil {
				return now, false, err
			}
			if len(after.set.Jobs) != len(now.set.Jobs) || !gone(f, after.subjects, i) {
				reasons[key] = errUseless
				continue
			}
			if reasons[key] = o.proven(ctx, now.set, after.set, i, f); reasons[key] == nil {
				return after, true, nil
			}
		}
	}
	return now, false, nil
}

// keyOf names a finding, whatever its line.
func keyOf(s findings.Subject, f findings.Finding) string {
	return f.Check + " " + f.Field + " " + s.Namespace + "/" + s.Name
}

// left returns the findings whose repairs were not made. The reasons are given for this text: they may name lines.
func (o Options) left(r reading, reasons map[string]error) []Left {
	var all []Left
	lines := strings.Split(r.text, "\n")
	for i, job := range r.set.Jobs {
		for _, f := range r.subjects[i].Findings {
			reason := reasons[keyOf(r.subjects[i], f)]
			if reason == nil {
				continue
			}
			if _, refused := o.repairOf(job, f)(o, source{r.text, lines, job.Origin}, job, f); refused != nil {
				reason = refused
			}
			all = append(all, Left{f, reason})
		}
	}
	return all
}

// gone reports whether a finding is not there any more, or is there less often.
func gone(f findings.Finding, found []findings.Subject, i int) bool {
	return i < len(found) && !slices.ContainsFunc(found[i].Findings, func(other findings.Finding) bool {
		return other.Check == f.Check && other.Field == f.Field && other.Message == f.Message
	})
}
