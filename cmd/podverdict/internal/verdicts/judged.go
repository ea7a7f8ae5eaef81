package verdicts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Judged is a Job with the verdicts on its Pods, or on a part of them if the Job has too many.
type Judged struct {
	JobItem

	Items []Item
	Plan  *Plan // plan that produced Items
}

// judging judges the Jobs of an input one after another, in constant memory.
type judging struct {
	*Input

	planners []*Planner // the current rules; with --policy, the rules without it come second
	outlooks bool
	failed   map[*v1alpha2.JobSet][]*batchv1.Job // Jobs of each JobSet that fail or have failed

	pods    []manifest.Pod // Pods buffered until the Job's last part, for rules that need all Pods
	part    bool           // some of the Job's Pods are judged, and more follow
	jobs    int            // number of Jobs that could be judged
	owned   bool           // at least one Pod belongs to a Job of the input
	wrong   []error        // errors of Jobs that could not be judged
	refused []error        // errors of Pods that belong to no Job
	made    madeJobs
}

// newJudging compiles the policies of an input.
func newJudging(c *cli.Console, in *Input, o *Options) (*judging, error) {
	j := &judging{Input: in, outlooks: in.hasOutlook(o.Source.Query)}
	after, err := NewPlanner(c, o.Kubernetes, in.Policies, in.Own)
	if err != nil {
		return nil, err
	}
	j.planners = []*Planner{after}
	if in.before != nil && !o.Uncompared {
		before, err := NewPlanner(c, o.Kubernetes, in.before, nil)
		if err != nil {
			return nil, err
		}
		j.planners = append(j.planners, before)
	}
	return j, nil
}

// Judge returns the Jobs with the verdicts on their Pods. It skips Jobs that cannot be judged, except in strict mode or if no other Jobs
// remain. At the end it prints notes about skipped Jobs and Pods.
func (in *Input) Judge(ctx context.Context, c *cli.Console, o *Options) iter.Seq2[*Judged, error] {
	return func(yield func(*Judged, error) bool) {
		j, err := newJudging(c, in, o)
		if err == nil {
			err = j.findFailing(ctx)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for f, err := range j.Families() {
			var one *Judged
			if err == nil {
				one, err = j.judge(ctx, c, f)
			}
			if (one != nil || err != nil) && !yield(one, err) || err != nil {
				return
			}
		}
		if err := j.end(c); err != nil {
			yield(nil, err)
		}
	}
}

// judge returns the verdicts on a Job's Pods. It returns nil for a skipped Job, and for a part of a Job whose rules need all Pods.
func (j *judging) judge(ctx context.Context, c *cli.Console, f gathering.Family) (*Judged, error) {
	plans, err := j.plans(ctx, f)
	if plans == nil || err != nil {
		return nil, err
	}
	if cron := cronJobOf(f); cron != nil && !j.Scenarios {
		return judgedCronJob(plans[0], cron, j.Now), nil
	}
	if f.More && (plans[0].readsOthers() || plans[len(plans)-1].readsOthers()) {
		j.pods = append(j.pods, f.Pods...)
		return nil, nil //nolint:nilnil // the last part has the verdicts
	}
	pods := slices.Concat(j.pods, f.Pods)
	continued := j.part
	partly := len(j.pods) == 0 && (f.More || continued)
	j.pods, j.part = nil, partly && f.More
	for _, p := range plans {
		p.Missing.Pods = partly
		if err := p.AddPods(ctx, pods); err != nil {
			return nil, err
		}
	}
	if j.Scenarios {
		plans[0].AddScenarios(c, plans...)
	}
	one := plans[0].Judge(ctx, j.Now, plans[1:]...)
	one.continued, one.single = continued, j.Gathering.Jobs == 1
	if j.outlooks && !partly {
		one.addOutlook(ctx)
		one.addJobSet(j.failed, j.Now)
	}
	for _, d := range plans[0].Snapshot.Decisions(ctx) {
		j.forgotten += min(d.EarlierUnknown, 1)
	}
	return one, nil
}

// plans returns one plan per planner for a Job, or nil for a skipped Job.
func (j *judging) plans(ctx context.Context, f gathering.Family) ([]*Plan, error) {
	job := f.Job
	switch {
	case job != nil:
	case j.bare:
		job = noJob(f.Namespace)
	default:
		j.refused = append(j.refused, f.Others()...)
		return nil, nil
	}
	var plans []*Plan
	for _, planner := range j.planners {
		p, err := planner.Plan(ctx, *job)
		if err != nil && j.strict {
			return nil, err
		} else if err != nil {
			if !f.More {
				j.wrong = append(j.wrong, err)
			}
			return nil, nil
		}
		plans = append(plans, p)
	}
	j.owned = j.owned || len(f.Pods) > 0
	if !f.More {
		j.jobs++
		j.made.add(job)
	}
	return plans, nil
}

// findFailing finds the failing Jobs of each JobSet, because a JobSet's reaction depends on all of them.
func (j *judging) findFailing(ctx context.Context) error {
	if !j.outlooks || !j.HasJobSets() {
		return nil
	}
	j.failed = map[*v1alpha2.JobSet][]*batchv1.Job{}
	more := false
	for f, err := range j.Families() {
		if err != nil {
			return err
		}
		continued := more
		if more = f.More; more || continued || f.Job == nil || f.Job.JobSet == nil {
			continue // a Job in parts has no outlook
		}
		p, err := j.planners[0].Plan(ctx, *f.Job)
		if err != nil {
			continue // reported when the Job is judged
		}
		p.setPods(f.Pods)
		p.Snapshot = p.snapshotAt(j.Now)
		if failing := p.failing(p.Snapshot.Outlook(ctx).Next, j.Now); failing != nil {
			j.failed[f.Job.JobSet] = append(j.failed[f.Job.JobSet], failing)
		}
	}
	return nil
}

// end prints notes about skipped Jobs and Pods. It returns an error if nothing could be judged, or in strict mode if Pods were skipped.
func (j *judging) end(c *cli.Console) error {
	if j.jobs == 0 && len(j.wrong) > 0 {
		return errors.Join(j.wrong...)
	}
	j.Leave(j.wrong...)
	j.made.note(c)
	if j.strict || j.Unread == nil && !j.owned {
		return errors.Join(j.refused...)
	}
	NoteSkippedPods(c, len(j.refused))
	return nil
}

// NoteForgotten notes how many Pods have unknown earlier attempts that rules look at.
func (in *Input) NoteForgotten(c *cli.Console) {
	if in.forgotten > 0 {
		c.Note(fmt.Sprintf("not known: earlier attempts of %d of the Pods, which rules look at: theirs are gone or not in the input", in.forgotten))
	}
}

// NoteSkippedPods notes how many Pods belong to no Job of the input.
func NoteSkippedPods(c *cli.Console, n int) {
	switch {
	case n == 1:
		c.Note("skipped 1 pod that belongs to no Job of the input")
	case n > 0:
		c.Note(fmt.Sprintf("skipped %d pods that belong to no Job of the input", n))
	}
}

// madeJobs collects Jobs that are not in the input themselves, only their makers, such as CronJobs.
type madeJobs struct {
	makers []string
	jobs   map[string][]string // Job names by maker
}

func (m *madeJobs) add(job *manifest.Job) {
	if job.MadeBy == "" {
		return
	}
	if m.jobs == nil {
		m.jobs = map[string][]string{}
	}
	if m.jobs[job.MadeBy] == nil {
		m.makers = append(m.makers, job.MadeBy)
	}
	m.jobs[job.MadeBy] = append(m.jobs[job.MadeBy], job.Reference().String())
}

// note prints how these Jobs are judged.
func (m *madeJobs) note(c *cli.Console) {
	for _, maker := range m.makers {
		subject := "Job " + m.jobs[maker][0] + " is"
		if n := len(m.jobs[maker]); n > 1 {
			subject = fmt.Sprintf("%d Jobs of %s are", n, maker)
		}
		c.Note(fmt.Sprintf("note: %s not in the input: judged as %s makes it now", subject, maker))
	}
}

// addOutlook adds the Job's outlook.
func (j *Judged) addOutlook(ctx context.Context) {
	outlook := j.Plan.Snapshot.Outlook(ctx)
	j.Outlook, j.Plan.next = &outlook, outlook.Next
}

// addJobSet adds the reaction of the JobSet if the Job fails. The JobSet's other Jobs may have failed, too.
func (j *Judged) addJobSet(failed map[*v1alpha2.JobSet][]*batchv1.Job, now time.Time) {
	if j.Plan.failing(j.Outlook.Next, now) != nil {
		j.fails = true
		j.JobSet = j.Plan.jobSet(failed[j.Plan.Job.JobSet]...)
	}
}
