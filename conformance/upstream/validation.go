package upstream

import (
	"context"
	"encoding/json"

	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// submissionsPerBlock is the number of submissions that a worker draws at a time, from a separate generator.
const submissionsPerBlock = 256

// Validation submits generated Jobs to the API server and to the Rego bundle, and compares their findings one by one. A
// third are updates, one in 32 is a CronJob, created or updated, and the rest are new Jobs. One block in eight is
// well-typed and must have no faults.
type Validation struct {
	Seed  uint64
	Count int64
	// Status submits writes to the status of Jobs instead.
	Status bool
	// Process answers for the API server; nil means the linked release.
	Process *release.Process
	// Workers is the number of blocks submitted concurrently. Results do not depend on it.
	Workers int
	// Progress, if set, is called with the sum of finished blocks after each of them, by one goroutine at a time.
	Progress func(Findings)
}

// Findings counts compared submissions.
type Findings struct {
	Submissions, Updates, CronJobs int64
	// Legal counts the submissions without faults, Panicked those on which upstream panics.
	Legal, Panicked int64
	// Constraints counts the submissions that violate a constraint, by its id. It has all constraints of the bundle.
	Constraints map[string]int64
	// Named counts the submissions that an older API server answers differently, by difference.
	Named map[string]int64
}

func (f *Findings) add(o Findings) {
	f.Submissions += o.Submissions
	f.Updates += o.Updates
	f.CronJobs += o.CronJobs
	f.Legal += o.Legal
	f.Panicked += o.Panicked
	for id, n := range o.Constraints {
		f.Constraints[id] += n
	}
	for name, n := range o.Named {
		f.Named[name] += n
	}
}

// Run submits all Jobs, and returns the counts. The error is a *DifferenceError if the answers differ, or the context's
// if the run was interrupted.
func (v Validation) Run(ctx context.Context) (Findings, error) {
	bundle, err := NewBundle(ctx)
	if err != nil {
		return Findings{}, err
	}
	constraints, err := Constraints(v.Status)
	if err != nil {
		return Findings{}, err
	}
	r := &validationRun{Validation: v, contest: newContest(bundle, v.Process)}
	r.sum.Constraints, r.sum.Named = map[string]int64{}, map[string]int64{}
	for _, id := range constraints {
		r.sum.Constraints[id] = 0
	}
	count := (v.Count + submissionsPerBlock - 1) / submissionsPerBlock
	err = inBlocks(ctx, count, v.Workers, r.block, r.add)
	return r.sum, err
}

// validationRun is the shared state of a Run's workers.
type validationRun struct {
	Validation

	contest contest
	sum     Findings
}

func (r *validationRun) add(f Findings) {
	r.sum.add(f)
	if r.Progress != nil {
		r.Progress(r.sum)
	}
}

// block submits the Jobs of a block.
func (r *validationRun) block(ctx context.Context, block int64) (Findings, error) {
	sum := Findings{Constraints: map[string]int64{}, Named: map[string]int64{}}
	first := block * submissionsPerBlock
	draw := newSubmissions(scatter(r.Seed, block), block%8 != 7, r.Status)
	for i := first; i < min(first+submissionsPerBlock, r.Count); i++ {
		s, err := draw.next(i)
		if err != nil {
			return sum, err
		}
		a, err := r.contest.compare(ctx, s)
		if err != nil {
			return sum, err
		}
		sum.count(s, a)
	}
	return sum, nil
}

func (f *Findings) count(s release.Submission, a answer) {
	f.Submissions++
	if s.Old != nil {
		f.Updates++
	}
	if s.CronJob {
		f.CronJobs++
	}
	if a.panicked {
		f.Panicked++
	}
	if len(a.findings) == 0 {
		f.Legal++
	}
	ids := map[string]bool{}
	for _, finding := range a.findings {
		ids[finding.ID] = true
	}
	for id := range ids {
		f.Constraints[id]++
	}
	for _, name := range a.named {
		f.Named[name]++
	}
}

// submissions draws submissions from a generator.
type submissions struct {
	generator *generators.Jobs
	spelling  *spelling
	status    bool
}

func newSubmissions(seed uint64, hostile, status bool) *submissions {
	return &submissions{generators.NewJobs(seed, hostile), newSpelling(seed), status}
}

// next draws the submission with a number. The object that an update replaces is spelled like the API server's, or like a
// user's.
func (d *submissions) next(i int64) (release.Submission, error) {
	s := release.Submission{CronJob: i%32 == 1 && !d.status, Status: d.status}
	var object, old any
	switch {
	case d.status:
		object, old = d.generator.StatusUpdate()
	case s.CronJob && i%64 == 1:
		object, old = d.generator.CronJobUpdate()
	case s.CronJob:
		object = d.generator.CronJob()
	case i%3 == 0:
		object, old = d.generator.Update()
	default:
		object = d.generator.Job()
	}
	var err error
	if s.Object, err = d.spelling.write(object); err != nil || old == nil {
		return s, err
	}
	if s.Old, err = json.Marshal(old); err == nil && i%2 == 0 {
		s.Old, err = release.Stored(s.Old)
	}
	return s, err
}
