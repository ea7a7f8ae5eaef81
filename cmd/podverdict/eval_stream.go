package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/cel"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// shownFields are the fields of Pods that verdicts show, besides those that decide.
var shownFields = cel.NewFields(
	"Pod.apiVersion", "Pod.kind", "ObjectMeta.generateName", "PodStatus.message", "PodStatus.startTime", "ContainerStatus.lastState",
	"PodSpec.containers", "Container.restartPolicyRules", "ContainerRestartRule.*", "ContainerRestartRuleOnExitCodes.*",
	"ContainerState.*", "ContainerStateWaiting.*", "ContainerStateRunning.*", "ContainerStateTerminated.*",
)

// streaming judges Pods as they are read, and keeps none that has its verdict.
type streaming struct {
	input    input
	planners []*planner // what is asked for, and with --policy what was before
	page     verdictPage
	jobs     map[int]*streamedJob // by their index
	members  *manifest.Members
}

// streamedJob is a Job whose Pods come one by one.
type streamedJob struct {
	plans []plan // one for each planner
	// kept are all Pods so far where custom policies are in force: the numbers of attempts depend on all.
	kept []manifest.Pod
}

// evalStream does what eval does, for an input with more Pods than are held in memory. Rows are written as they come, in the order of the input.
// Jobs have no outlook, and Pods no number of their attempt: both depend on all Pods of a Job.
func evalStream(ctx context.Context, c *cli.Console, o *evalOptions, in input) error {
	defer in.stream.Close()
	// A Pod lives for a moment only. The collector runs less often than it would, and there is little for it to look at.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	shown := cli.NewProgress(c.Stderr, "Pods judged", 0)
	defer shown.End()
	out := bufio.NewWriterSize(o.live, 1<<16)
	s := streaming{
		input: in, page: verdictPage{writer: o.streamWriter(out, in), shows: o.shows},
		jobs: map[int]*streamedJob{}, members: in.stream.Members(),
	}
	if err := s.plan(c, o.input.kubernetes); err != nil {
		return err
	}
	for pods, err := range in.stream.Pods(s.fields()) {
		if err != nil {
			return errors.Join(err, in.stream.Err())
		}
		if err := s.take(ctx, pods); err != nil {
			return err
		}
		if err := in.stream.Err(); err != nil && o.input.source.Files.Strict {
			return err
		}
		shown.Add(len(pods))
	}
	err := s.rest(ctx)
	shown.End()
	s.page.total.jobs = len(in.stream.Set.Jobs)
	if err := errors.Join(err, s.page.end(), cli.StdoutError(out.Flush())); err != nil {
		return errors.Join(in.stream.Err(), err)
	}
	cli.NoteSkipped(c, in.stream.Set)
	noteSkippedPods(c, s.members.Others)
	if o.output.IsProse() {
		c.Note(s.page.total.String())
	}
	return in.stream.Err()
}

// streamWriter returns what writes verdicts as they come, without grouping them by Jobs.
func (o *evalOptions) streamWriter(out io.Writer, in input) verdictWriter {
	switch o.output.Name {
	case "table", "wide":
		return newVerdictTable(out, cli.ScreenOf(o.live, o.color), !o.noHeaders, verdictLayout{
			wide: o.output.Name == "wide", namespaces: true,
		})
	case "json":
		return &jsonListWriter{out: out}
	}
	return o.writer(&cli.Console{Stdout: out}, in)
}

func (s *streaming) plan(c *cli.Console, kubernetes string) error {
	after, err := newPlanner(c, kubernetes, s.input.policies, s.input.own)
	if err != nil {
		return err
	}
	s.planners = []*planner{after}
	if s.input.before != nil {
		before, err := newPlanner(c, kubernetes, s.input.before, nil)
		if err != nil {
			return err
		}
		s.planners = append(s.planners, before)
	}
	return nil
}

func (s *streaming) fields() cel.Fields {
	fields := cel.Fields{}
	fields.AddAll(controllerplan.PodFields)
	fields.AddAll(shownFields)
	for _, p := range s.planners {
		for _, policy := range p.custom.All {
			if policy.Compiled != nil {
				fields.AddAll(policy.Compiled.Compiled.Reads.Pod)
			}
		}
	}
	return fields
}

// take judges Pods, unless their verdicts depend on others.
func (s *streaming) take(ctx context.Context, pods []manifest.Pod) error {
	found, err := s.members.Of(pods)
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(found)) {
		job, err := s.job(ctx, i)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(job.plans, func(p plan) bool { return !p.rules.Selection.Empty() }) {
			job.kept = append(job.kept, found[i]...)
			continue
		}
		if err := s.judge(ctx, job, found[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *streaming) job(ctx context.Context, i int) (*streamedJob, error) {
	if known := s.jobs[i]; known != nil {
		return known, nil
	}
	job := &streamedJob{}
	for _, p := range s.planners {
		planned, err := p.plan(ctx, s.input.stream.Set.Jobs[i])
		if err != nil {
			return nil, err
		}
		job.plans = append(job.plans, planned)
	}
	s.jobs[i] = job
	return job, nil
}

// judge writes the verdicts on Pods of a Job.
func (s *streaming) judge(ctx context.Context, job *streamedJob, pods []manifest.Pod) error {
	var items []verdictItem
	for i := range slices.Backward(job.plans) {
		p := &job.plans[i]
		p.missing.Pods = len(job.kept) == 0
		p.addPods(pods)
		if err := s.planners[i].lookAtNodes(ctx, job.plans[i:i+1]); err != nil {
			return err
		}
		before := items
		if items = p.judge(ctx, s.input.now); before != nil {
			items = compare(before, items)
		}
		p.pods, p.snapshot = nil, nil
	}
	return s.page.job(jobItem{Job: job.plans[0].name(), now: s.input.now}, items)
}

// judgeBare writes the verdicts on Pods that no Job runs.
func (s *streaming) judgeBare(ctx context.Context, pods []manifest.Pod) error {
	for _, f := range bareFamilies(pods) {
		planned, err := s.planners[0].plan(ctx, f.Job)
		if err != nil {
			return err
		}
		if err := s.judge(ctx, &streamedJob{plans: []plan{planned}}, f.Pods); err != nil {
			return err
		}
	}
	return nil
}

// rest judges the Pods that have waited for the end of the input.
func (s *streaming) rest(ctx context.Context) error {
	if bare := s.members.Bare(); len(bare) > 0 {
		return s.judgeBare(ctx, bare)
	}
	for i, pods := range s.members.Rest() {
		job, err := s.job(ctx, i)
		if err != nil {
			return err
		}
		job.kept = append(job.kept, pods...)
	}
	for _, i := range slices.Sorted(maps.Keys(s.jobs)) {
		if job := s.jobs[i]; len(job.kept) > 0 {
			if err := s.judge(ctx, job, job.kept); err != nil {
				return err
			}
		}
	}
	if len(s.input.stream.Set.Jobs) == 0 {
		return cli.ErrOnlyPods
	}
	return nil
}
