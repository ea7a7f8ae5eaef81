package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/oldserver"
)

// answer has both sides' findings for a submission.
type answer struct {
	// findings has the bundle's findings.
	findings []Finding
	// missing has the faults reported only by the API server, excess those reported only by the bundle.
	missing, excess []release.Fault
	// panicked is true if upstream panics.
	panicked bool
	// named lists the known differences of an older API server that explain disagreements.
	named []string
}

// contest compares the API server and the bundle on the same submissions.
type contest struct {
	bundle      *Bundle
	server      *release.Process
	twice       bool                   // whether the server reports the faults of an update twice
	valueless   bool                   // whether the server formats values differently
	differences []oldserver.Difference // differences that the server may have
}

func newContest(b *Bundle, server *release.Process) contest {
	c := contest{bundle: b, server: server}
	if server != nil {
		release := version.MustParseGeneric(server.Kubernetes)
		c.twice, c.valueless = release.LessThan(oldserver.UpdatesOnce), release.LessThan(oldserver.JSONValues)
		c.differences = oldserver.Differences(release)
	}
	return c
}

// compare submits to both. The error is a *DifferenceError if they differ.
func (c contest) compare(ctx context.Context, s release.Submission) (answer, error) {
	a, err := c.submit(ctx, s)
	if err == nil && len(a.missing)+len(a.excess) > 0 {
		err = c.newDifference(ctx, s, a)
	}
	return a, err
}

func (c contest) submit(ctx context.Context, s release.Submission) (a answer, err error) {
	if s.Status { // only stored Jobs have one
		object, err1 := release.Stored(s.Object)
		old, err2 := release.Stored(s.Old)
		if err := errors.Join(err1, err2); err != nil {
			return a, err
		}
		s.Object, s.Old = object, old
	}
	want, panicked, err := c.server.APIServer(ctx, s)
	if err != nil {
		return a, err
	}
	if c.valueless {
		dropMessages(want)
	}
	if a.panicked = panicked; c.twice && s.Old != nil && !s.CronJob && !s.Status {
		want = oldserver.Once(want)
	}
	if a.findings, err = c.bundle.Findings(ctx, s); err != nil {
		return a, err
	}
	var got []release.Fault
	for _, f := range a.findings {
		if panicked && strings.Contains(f.Field, "spec.successPolicy") {
			continue // upstream panics before it can answer
		}
		got = append(got, f.Fault)
	}
	if c.valueless {
		dropMessages(got)
	}
	a.missing, a.excess = subtract(want, got)
	for _, d := range c.differences {
		if d.Suspended && (s.Old == nil || !suspended(s.Old)) {
			continue
		}
		a.explain(d)
	}
	return a, nil
}

// dropMessages removes messages, and keeps field, type and detail.
func dropMessages(faults []release.Fault) {
	for i := range faults {
		faults[i].Message = ""
	}
}

func suspended(document []byte) bool {
	var job struct {
		Spec struct {
			Suspend bool `json:"suspend"`
		} `json:"spec"`
	}
	return json.Unmarshal(document, &job) == nil && job.Spec.Suspend
}

// explain removes the faults that only one side has because of a difference. If both sides have a fault, it removes
// equally many from each.
func (a *answer) explain(d oldserver.Difference) {
	isOld := func(f release.Fault) bool { return d.IsOld(f.Field, f.Detail) }
	isNew := func(f release.Fault) bool { return d.IsNew(f.Field, f.Detail) }
	n := max(count(a.missing, isOld), count(a.excess, isNew))
	if d.Said != "" && d.Says != "" {
		n = min(count(a.missing, isOld), count(a.excess, isNew))
	}
	if n == 0 {
		return
	}
	a.missing, a.excess = deleteSome(a.missing, n, isOld), deleteSome(a.excess, n, isNew)
	a.named = append(a.named, d.Name)
}

func count(faults []release.Fault, is func(release.Fault) bool) (n int) {
	for _, f := range faults {
		if is(f) {
			n++
		}
	}
	return n
}

// deleteSome deletes at most n of the faults for which is returns true.
func deleteSome(faults []release.Fault, n int, is func(release.Fault) bool) []release.Fault {
	return slices.DeleteFunc(faults, func(f release.Fault) bool {
		if n == 0 || !is(f) {
			return false
		}
		n--
		return true
	})
}

// subtract compares two multisets.
func subtract(want, got []release.Fault) (missing, excess []release.Fault) {
	slices.SortFunc(want, compareFaults)
	slices.SortFunc(got, compareFaults)
	for len(want) > 0 && len(got) > 0 {
		switch c := compareFaults(want[0], got[0]); {
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

func compareFaults(a, b release.Fault) int {
	return cmp.Or(
		strings.Compare(a.Field, b.Field), strings.Compare(a.Type, b.Type),
		strings.Compare(a.Detail, b.Detail), strings.Compare(a.Message, b.Message),
	)
}
