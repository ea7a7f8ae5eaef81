package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podverdict/podverdict/conformance/reports"
)

// Judge returns the findings about a Job or CronJob: of the constraints for their vectors, and of the guardrails for theirs.
// It may modify only its argument.
type Judge func(ctx context.Context, s Submission) ([]Finding, error)

// Lens removes from a finding what a judge does not report, such as the ids of constraints. It returns false for a finding
// that the judge does not report at all. With a nil Lens, everything is compared.
type Lens func(f *Finding) bool

// Difference compares a judge's findings with the expected ones, in any order, through the Lens. It returns the differences,
// one per line, or an empty string.
func (v JobVector) Difference(got []Finding, seen Lens) string {
	missing, excess := subtract(seen.of(v.Want), seen.of(got))
	var lines []string
	for _, f := range excess {
		lines = append(lines, "got  "+line(f))
	}
	for _, f := range missing {
		lines = append(lines, "want "+line(f))
	}
	return strings.Join(lines, "\n")
}

// of returns the findings through the lens, sorted.
func (seen Lens) of(findings []Finding) []Finding {
	var all []Finding
	for _, f := range findings {
		if seen == nil || seen(&f) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, compareFindings)
	return all
}

// subtract compares two sorted lists.
func subtract(want, got []Finding) (missing, excess []Finding) {
	for len(want) > 0 && len(got) > 0 {
		switch c := compareFindings(want[0], got[0]); {
		case c < 0:
			missing, want = append(missing, want[0]), want[1:]
		case c > 0:
			excess, got = append(excess, got[0]), got[1:]
		default:
			want, got = want[1:], got[1:]
		}
	}
	return append(missing, want...), append(excess, got...)
}

// line returns the finding as JSON.
func line(f Finding) string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// RunJobs runs every selected vector against the judge, as [Run] does for engines. It ignores the options' features and
// versions.
func RunJobs(ctx context.Context, judge Judge, seen Lens, all []JobVector, o Options) (reports.Report, error) {
	r := reports.Report{Engine: o.Engine}
	for _, v := range all {
		if o.Select != nil && !o.Select.MatchString(v.Name) {
			continue
		}
		r.Results = append(r.Results, v.ask(ctx, judge, seen))
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	if len(r.Results) == 0 {
		return r, ErrNoneSelected
	}
	return r, nil
}

// ask passes the judge its own copy of the submission, so that changes to it cannot affect the next answer.
func (v JobVector) ask(ctx context.Context, judge Judge, seen Lens) reports.Result {
	start := time.Now()
	got, err := guarded(func() ([]Finding, error) {
		if judge == nil {
			return nil, errors.New("no judge")
		}
		return judge(ctx, Submission{
			Object:    runtime.DeepCopyJSON(v.Object),
			OldObject: runtime.DeepCopyJSON(v.OldObject),
			Settings:  maps.Clone(v.Settings),
		})
	})
	r := reports.Result{
		Name: v.Name, Sentence: v.Sentence, KEP: v.KEP, Features: []string{}, Outcome: reports.Passed, Duration: time.Since(start),
	}
	if err != nil {
		r.Outcome, r.Detail = reports.Errored, err.Error()
	} else if r.Detail = v.Difference(got, seen); r.Detail != "" {
		r.Outcome = reports.Failed
	}
	return r
}
