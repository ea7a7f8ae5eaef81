package check

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

// repair returns a change to a text that removes a finding, or the reason why the text cannot be changed. A repair changes few characters
// or lines and keeps comments and layout, in YAML and JSON. It does not change anchored text, which several Jobs may share.
type repair func(source, findings.Finding) (change, error)

// change is a new text, and its effect on the Job's spec.
type change struct {
	text  string
	apply func(*batchv1.JobSpec)
}

// leftFinding is a finding whose repair was not made, and the reason.
type leftFinding struct {
	findings.Finding

	reason error
}

var errUseless = errors.New("it would not help")

// maxRepairs limits the number of changes to a text.
const maxRepairs = 1000

// repairOf returns the repair of a finding about a Job, or nil. It suggests no limits for a JobSet's Jobs: JobSet's webhook requires some
// values, and JobSet itself ends and deletes these Jobs.
func (g *gate) repairOf(job manifest.Job, f findings.Finding) repair {
	if made := repairs[f.Check]; made != nil || !g.suggest || job.JobSet != nil {
		return made
	}
	return suggestions[f.Check]
}

// reading is a text with its Jobs and their findings.
type reading struct {
	text     string
	jobs     []manifest.Job
	subjects []findings.Subject
}

// readText reads and inspects a text. It ignores read errors, because unreadable documents are not repaired.
func (g *gate) readText(ctx context.Context, text string) (reading, error) {
	files := g.files
	files.Filenames, files.Stdin = []string{"-"}, strings.NewReader(text)
	set, _ := manifest.Read(ctx, files)
	subjects, err := g.inspector.inspect(ctx, set)
	subjects = g.inspector.choice.apply(subjects, set)
	return reading{text, set.Jobs, subjects[:min(len(set.Jobs), len(subjects))]}, err
}

// reasons maps findings to the reasons why their repairs were not made.
type reasons map[string]error

// repairText makes all possible repairs in a text, one at a time. The positions of remaining findings refer to the new text if it is
// going to be written, and to the given text otherwise.
func (g *gate) repairText(ctx context.Context, text string) (repaired, error) {
	r, refused := repaired{before: text}, reasons{}
	given, err := g.readText(ctx, text)
	now := given
	for changed := true; changed && err == nil && r.done < maxRepairs; {
		if now, changed, err = g.repairOnce(ctx, now, refused); changed {
			r.done++
		}
	}
	if !g.diff {
		given = now
	}
	r.text, r.left = now.text, g.leftFindings(given, refused)
	return r, err
}

// repairOnce makes the first possible repair that was not refused before.
func (g *gate) repairOnce(ctx context.Context, now reading, refused reasons) (after reading, changed bool, err error) {
	for i, subject := range now.subjects {
		for _, f := range subject.Findings {
			repair, key := g.repairOf(now.jobs[i], f), keyOf(subject, f)
			if repair == nil || refused[key] != nil {
				continue
			}
			var c change
			if c, refused[key] = repair(g.source(now, i), f); refused[key] != nil {
				continue
			}
			if after, err = g.readText(ctx, c.text); err != nil {
				return now, false, err
			}
			if refused[key] = c.verify(now, after, i, f); refused[key] == nil {
				return after, true, nil
			}
		}
	}
	return now, false, nil
}

func (g *gate) source(r reading, i int) source {
	return source{r.text, strings.Split(r.text, "\n"), r.jobs[i], g.settings}
}

// verify returns an error unless the finding is gone and the new text changes exactly Job i, and Jobs from the same lines, as intended.
func (c change) verify(before, after reading, i int, f findings.Finding) error {
	if len(after.jobs) != len(before.jobs) {
		return errLayout
	}
	for j, job := range before.jobs {
		want := job.Object.Spec.DeepCopy()
		if job.Origin == before.jobs[i].Origin {
			c.apply(want)
		}
		if !equality.Semantic.DeepEqual(want, &after.jobs[j].Object.Spec) {
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

// keyOf identifies a finding independently of its line.
func keyOf(s findings.Subject, f findings.Finding) string {
	return f.Check + " " + f.Field + " " + s.Namespace + "/" + s.Name
}

// leftFindings returns the findings whose repairs were refused. Line numbers in the reasons refer to this text.
func (g *gate) leftFindings(r reading, refused reasons) []leftFinding {
	var all []leftFinding
	for i, subject := range r.subjects {
		for _, f := range subject.Findings {
			reason := refused[keyOf(subject, f)]
			if reason == nil {
				continue
			}
			if _, err := g.repairOf(r.jobs[i], f)(g.source(r, i), f); err != nil {
				reason = err
			}
			all = append(all, leftFinding{f, reason})
		}
	}
	return all
}
