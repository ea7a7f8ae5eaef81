// Package diff implements the verb diff, which prints the verdicts that change from one policy or Job to another.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

type options struct {
	source     cli.Source // source of the Pods, and of sides in a cluster
	kubernetes string
	exitCode   bool
	all        bool
	color      string
	output     cli.Format
	live       io.Writer
}

// New returns the verb diff.
func New(p *cli.Program) *cobra.Command {
	o := options{live: p.Stdout}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW [-f PODS]",
		Short: "Say which verdicts change from one policy or Job to another",
		Long: `Say which verdicts change from one policy or Job to another. OLD and NEW are
files or directories, with Jobs or with PodFailurePolicies, or objects of a
cluster: job/NAME, cronjob/NAME. Both are judged on the scenarios that
"podverdict test scenarios" lists, on the Pods of -f, and on the Pods of each
job/NAME.

What changes comes first: the verdict before and after, and the rules that
decide. A verdict changes when it does something else to the Job. Another rule
that does the same is no change.

Jobs are compared by name, and a single Job with a single other one. Policies
without a Job are in force for all Jobs, as after their binding: for those of
-f, which podverdict's controller is taken to run, or else for a Job with one
container. The policies of the cluster are in force for both sides, unless the
other side has policies of its own.
` + cli.ConnectionHelp,
		Example: `  podverdict diff old.yaml new.yaml
  podverdict diff job.yaml new-job.yaml -f pods/ --exit-code
  podverdict diff job/demo new-job.yaml
  git show main:job.yaml | podverdict diff - job.yaml -o markdown`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.Run(p, &o, run),
	}
	flags := cmd.Flags()
	o.source.Kinds = []cluster.Kind{cluster.Job, cluster.CronJob}
	p.AddFileFlags(flags, &o.source.Files)
	flags.Lookup("filename").Usage = "file, directory, URL or - with Pods to judge as well; may be repeated"
	flags.Lookup("namespace").Usage = cli.NamespaceUsage
	o.source.Connection.AddFlags(flags)
	cli.AddSourceCompletions(cmd, &o.source)
	cli.AddKubernetesFlag(flags, &o.kubernetes)
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit with 1 when a verdict changes")
	flags.BoolVar(&o.all, "all", false, "list what does not change, too; JSON and YAML always have it")
	cli.AddColorFlag(cmd, &o.color)
	p.AddFormat(cmd, &o.output, "table", "json", "yaml", "markdown")
	return cmd
}

// run reads the rules before and after a change, judges scenarios and Pods by both, and prints the changes.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	if len(args) != 2 {
		return cli.Usagef("diff compares OLD with NEW: give both")
	}
	if err := cli.CheckColor(o.color); err != nil {
		return err
	}
	var d difference
	defer func() { err = cli.JoinUnread(d.unread, err) }()
	if err := d.read(ctx, c, o, args); err != nil {
		return err
	}
	onScenarios, onPods, err := d.judge(ctx, c, o.kubernetes)
	if err != nil {
		return err
	}
	changed, err := o.print(c, onScenarios, onPods)
	if err == nil && changed > 0 && o.exitCode && d.unread == nil {
		return cli.ErrFindings
	}
	return err
}

type difference struct {
	before, after side
	pods          []manifest.Pod
	pairs         []jobPair
	strict        bool  // Pods of other Jobs are errors
	unread        error // error about skipped documents
}

// readSound reads files, and records errors about skipped documents.
func (d *difference) readSound(ctx context.Context, c *cli.Console, files manifest.Options) (*manifest.Set, error) {
	set, unread, err := cli.ReadValid(ctx, c, files)
	if unread != nil {
		d.unread = cli.UnreadError(errors.Join(d.unread, unread))
	}
	return set, err
}

// read reads both sides and the Pods.
func (d *difference) read(ctx context.Context, c *cli.Console, o *options, args []string) error {
	stdin := 0
	for _, name := range slices.Concat(args, o.source.Files.Filenames) {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return cli.Usagef("standard input can be read only once")
	}
	var errBefore, errAfter error
	d.before, errBefore = d.readSide(ctx, c, o, args[0])
	d.after, errAfter = d.readSide(ctx, c, o, args[1])
	if err := errors.Join(errBefore, errAfter); err != nil {
		return err
	}
	d.before.share(&d.after)
	d.after.share(&d.before)
	d.strict = o.source.Files.Strict
	given := &manifest.Set{}
	if o.source.FromFiles() {
		var err error
		if given, err = d.readSound(ctx, c, o.source.Files); err != nil {
			return err
		}
		if len(given.Pods) == 0 && given.Lists == 0 {
			return errors.New("no Pods in the files of -f")
		}
	}
	d.shareNodes(given)
	d.pods = slices.Concat(d.before.pods, d.after.pods, given.Pods)
	return d.pair(c, given.Jobs)
}

// pair pairs the Jobs of both sides, with their Pods. If neither side has Jobs, the policies are judged for the Jobs read together with
// the Pods.
func (d *difference) pair(c *cli.Console, given []manifest.Job) error {
	before, after := d.before.set.Jobs, d.after.set.Jobs
	switch {
	case len(before) == 0 && len(after) == 0:
		if before = managed(given); len(before) == 0 {
			before = []manifest.Job{verdicts.StandIn()}
		}
		after = before
	case len(before) == 0:
		return fmt.Errorf("%s has no Job, and %s has: compare Jobs with Jobs, and policies with policies", d.before.name, d.after.name)
	case len(after) == 0:
		return fmt.Errorf("%s has a Job, and %s has none: compare Jobs with Jobs, and policies with policies", d.before.name, d.after.name)
	case len(before) > 1 || len(after) > 1 || d.unread != nil:
		before, after = d.sameNames(c)
	}
	if len(before) == 0 {
		return fmt.Errorf("no Job of %s has the name of one of %s", d.before.name, d.after.name)
	}
	return d.givePods(c, before, after)
}

// managed returns the Jobs with managedBy defaulted to podverdict's controller, because diff shows the effect of policies.
func managed(jobs []manifest.Job) []manifest.Job {
	jobs = slices.Clone(jobs)
	for i, job := range jobs {
		if job.Object.Spec.ManagedBy == nil {
			jobs[i].Object = job.Object.DeepCopy()
			jobs[i].Object.Spec.ManagedBy = new(v1alpha1.JobController)
		}
	}
	return jobs
}

// sameNames returns the Jobs that exist on both sides, matched by name. It prints notes about the others.
func (d *difference) sameNames(c *cli.Console) (before, after []manifest.Job) {
	named := map[manifest.Reference]manifest.Job{}
	for _, job := range d.after.set.Jobs {
		named[job.Reference()] = job
	}
	for _, job := range d.before.set.Jobs {
		other, ok := named[job.Reference()]
		if !ok {
			c.Note(fmt.Sprintf("note: Job %s is only in %s", job.Reference(), d.before.name))
			continue
		}
		before, after = append(before, job), append(after, other)
		delete(named, job.Reference())
	}
	for _, job := range d.after.set.Jobs {
		if _, left := named[job.Reference()]; left {
			c.Note(fmt.Sprintf("note: Job %s is only in %s", job.Reference(), d.after.name))
		}
	}
	return before, after
}

// givePods assigns Pods to their Jobs. The Pods may name the Job before the change or the Job after it.
func (d *difference) givePods(c *cli.Console, before, after []manifest.Job) error {
	named := after
	pods, others, err := podsByMaker(after, d.pods)
	if len(others) > 0 {
		if old, fewer, err := podsByMaker(before, d.pods); err == nil && len(fewer) < len(others) {
			named, pods, others = before, old, fewer
		}
	}
	switch {
	case err != nil:
		return err
	case len(others) > 0 && (d.strict || d.unread == nil && len(others) == len(d.pods)):
		return errors.Join(others...)
	}
	verdicts.NoteSkippedPods(c, len(others))
	for i := range named {
		if !d.leavesOut(before[i], after[i]) {
			d.pairs = append(d.pairs, jobPair{before[i], after[i], pods[named[i].Maker()]})
		}
	}
	if len(d.pairs) == 0 {
		return cli.ErrNoJob // after skipping the invalid ones
	}
	return nil
}

// podsByMaker groups Pods by Job. A maker of Jobs, such as a CronJob, gets the Pods of all its Jobs. It returns an error for each Pod
// that belongs to none.
func podsByMaker(jobs []manifest.Job, pods []manifest.Pod) (found map[manifest.Reference][]manifest.Pod, others []error, err error) {
	found = map[manifest.Reference][]manifest.Pod{}
	for f, err := range gathering.Of(slices.Clone(jobs), pods).Families() {
		switch {
		case err != nil:
			return nil, nil, err
		case f.Job == nil:
			others = append(others, f.Others()...)
		default:
			found[f.Job.Maker()] = append(found[f.Job.Maker()], f.Pods...)
		}
	}
	return found, others, nil
}

// leavesOut reports whether the API server would reject the rules of a Job before or after the change. It records the errors.
func (d *difference) leavesOut(before, after manifest.Job) bool {
	wrong := before.Check()
	if after.Object != before.Object {
		wrong = errors.Join(wrong, after.Check())
	}
	if wrong != nil {
		d.unread = cli.UnreadError(errors.Join(d.unread, wrong))
	}
	return wrong != nil
}

// jobPair is a Job before and after a change, with its Pods.
type jobPair struct {
	before, after manifest.Job
	pods          []manifest.Pod
}

// judge judges scenarios and Pods by the rules of both sides.
func (d *difference) judge(ctx context.Context, c *cli.Console, kubernetes string) (onScenarios, onPods []*verdicts.Judged, err error) {
	before, errBefore := verdicts.NewPlanner(c, kubernetes, d.before.policies, nil)
	after, errAfter := verdicts.NewPlanner(c, kubernetes, d.after.policies, nil)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return nil, nil, err
	}
	now := time.Now()
	var errs []error
	for _, pair := range d.pairs {
		old, errBefore := before.Plan(ctx, pair.before)
		changed, errAfter := after.Plan(ctx, pair.after)
		if err := errors.Join(errBefore, errAfter); err != nil {
			errs = append(errs, err)
			continue
		}
		if len(pair.pods) > 0 {
			errs = append(errs, old.AddPods(ctx, pair.pods), changed.AddPods(ctx, pair.pods))
			onPods = append(onPods, changed.Judge(ctx, now, old))
		}
		changed.AddScenarios(c, old, changed)
		onScenarios = append(onScenarios, changed.Judge(ctx, now, old))
	}
	return onScenarios, onPods, errors.Join(errs...)
}

// print writes the changes, first on scenarios and then on Pods, and returns their number.
func (o *options) print(c *cli.Console, sections ...[]*verdicts.Judged) (changed int, err error) {
	printing := verdicts.Printing{Out: c.Stdout, Format: &o.output, Screen: cli.ScreenOf(o.live, o.color), All: o.all, Changes: true}
	page := printing.Page(true)
	for i, jobs := range sections {
		if len(jobs) == 0 {
			continue
		}
		if i > 0 && o.output.IsProse() {
			if err := page.End(); err != nil {
				return 0, err
			}
			changed += page.Changes()
			fmt.Fprintln(c.Stdout)
			page = printing.Page(true)
		}
		for _, job := range jobs {
			if err := page.Add(job); err != nil {
				return 0, err
			}
		}
	}
	return changed + page.Changes(), page.End()
}
