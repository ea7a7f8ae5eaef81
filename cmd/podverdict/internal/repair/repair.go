package repair

import (
	"context"
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Options say how texts are read and checked.
type Options struct {
	// Inspect reads a text and returns what is wrong with it.
	Inspect func(ctx context.Context, text string) (*manifest.Set, []findings.Subject, error)
	// Parameter returns a number that a guardrail compares with, by the id of its rule and the name of the parameter.
	Parameter func(rule, name string) (int64, bool)
	// Suggest adds limits.
	Suggest bool
	// Written makes the places in Result.Left those of the new text.
	Written bool
}

// Result is a text with all repairs that can be made.
type Result struct {
	Text string
	Done int // how many repairs were made
	Left []Left
}

// Left is a finding that has a repair, and why it is not made.
type Left struct {
	Finding findings.Finding
	Reason  error
}

// repair returns how to change a text so that a finding is gone. The error says why the text cannot be changed.
type repair func(source, findings.Finding) (change, error)

// change is a new text, and what it changes in the Job's spec.
type change struct {
	text  string
	apply func(*batchv1.JobSpec)
}

var errUseless = errors.New("it would not help")

// maxRepairs bounds how often a text is changed.
const maxRepairs = 1000

// Can reports whether findings of a rule can be repaired, or with suggest, whether a limit can be suggested.
func Can(rule string, suggest bool) bool {
	return repairs[rule] != nil || suggest && suggestions[rule] != nil
}

// repairOf returns the repair of a finding about a Job, or nil. Limits of a JobSet's Jobs are not suggested: JobSet's webhook requires
// some values, and JobSet itself ends and deletes these Jobs.
func (o Options) repairOf(job manifest.Job, f findings.Finding) repair {
	if made := repairs[f.Check]; made != nil || !o.Suggest || job.JobSet != nil {
		return made
	}
	return suggestions[f.Check]
}

// reading is a text with its Jobs and the findings about them.
type reading struct {
	text     string
	set      *manifest.Set
	subjects []findings.Subject
}

func (o Options) read(ctx context.Context, text string) (reading, error) {
	set, subjects, err := o.Inspect(ctx, text)
	return reading{text, set, subjects}, err
}

// reasons are why repairs are not made, by finding.
type reasons map[string]error

// Text makes all repairs that can be made in a text.
func Text(ctx context.Context, text string, o Options) (Result, error) {
	given, err := o.read(ctx, text)
	now, r, refused := given, Result{}, reasons{}
	for changed := true; changed && err == nil && r.Done < maxRepairs; {
		if now, changed, err = o.once(ctx, now, refused); changed {
			r.Done++
		}
	}
	if o.Written {
		given = now
	}
	r.Text, r.Left = now.text, o.left(given, refused)
	return r, err
}

// once makes the first repair that can be made and was not refused before.
func (o Options) once(ctx context.Context, now reading, refused reasons) (after reading, changed bool, err error) {
	for i, subject := range now.subjects[:len(now.set.Jobs)] {
		for _, f := range subject.Findings {
			key := keyOf(subject, f)
			repair := o.repairOf(now.set.Jobs[i], f)
			if repair == nil || refused[key] != nil {
				continue
			}
			var c change
			if c, refused[key] = repair(o.source(now, i), f); refused[key] != nil {
				continue
			}
			if after, err = o.read(ctx, c.text); err != nil {
				return now, false, err
			}
			if refused[key] = c.verify(now, after, i, f); refused[key] == nil {
				return after, true, nil
			}
		}
	}
	return now, false, nil
}

func (o Options) source(r reading, i int) source {
	return source{r.text, strings.Split(r.text, "\n"), r.set.Jobs[i], o.Parameter}
}

// verify returns an error unless the new text changes Job i, and those made from the same lines, as meant and no other Job, and the
// finding is gone.
func (c change) verify(before, after reading, i int, f findings.Finding) error {
	if len(after.set.Jobs) != len(before.set.Jobs) {
		return errLayout
	}
	for j, job := range before.set.Jobs {
		want := job.Object.Spec.DeepCopy()
		if job.Origin == before.set.Jobs[i].Origin {
			c.apply(want)
		}
		if !equality.Semantic.DeepEqual(want, &after.set.Jobs[j].Object.Spec) {
			return errLayout
		}
	}
	if slices.ContainsFunc(after.subjects[i].Findings, func(other findings.Finding) bool {
		return other.Check == f.Check && other.Field == f.Field && other.Message == f.Message
	}) {
		return errUseless
	}
	return nil
}

// keyOf identifies a finding, whatever its line.
func keyOf(s findings.Subject, f findings.Finding) string {
	return f.Check + " " + f.Field + " " + s.Namespace + "/" + s.Name
}

// left returns the findings whose repairs were refused. Reasons that name lines are those of this text.
func (o Options) left(r reading, refused reasons) []Left {
	var all []Left
	for i, subject := range r.subjects[:len(r.set.Jobs)] {
		for _, f := range subject.Findings {
			reason := refused[keyOf(subject, f)]
			if reason == nil {
				continue
			}
			if _, err := o.repairOf(r.set.Jobs[i], f)(o.source(r, i), f); err != nil {
				reason = err
			}
			all = append(all, Left{f, reason})
		}
	}
	return all
}
