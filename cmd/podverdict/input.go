package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// customHelp says which custom policies are in force.
const customHelp = `
Custom policies (PodFailurePolicy, podverdict.io) are in force for the Jobs that
a PodFailurePolicyBinding selects. In files, a policy without a binding is in
force for all Jobs. The verdict is what takes effect: only
podverdict.io/job-controller acts on custom policies, for Jobs that it manages
(spec.managedBy) and bindings that enforce. What other policies would say is
shown apart, with the reason why nobody carries it out.

Matches of rules with a budget are counted over the Pods of a Job that are
there, in the order in which they finished; for pod/NAME and --watch no budget
is used up. The number of an attempt comes from the Pod's name or annotations,
else from the other failed Pods of the Job. A Pod that is Pending, Running or
Terminating has no verdict; if a rule on that phase matches it at --now, it
would be ended, and what that means is shown.
`

// sourceKinds are what names Pods in a cluster.
var sourceKinds = []cluster.Kind{cluster.Job, cluster.CronJob, cluster.JobSet, cluster.Pod}

// inputOptions are the flags of verbs that judge Pods.
type inputOptions struct {
	source     cli.Source
	policy     string // a file
	kubernetes string
	now        time.Time
	streams    bool // whether the verb takes Pods one by one
}

func (o *inputOptions) addFlags(p *cli.Program, flags *pflag.FlagSet) {
	o.source.AddFlags(p, flags, sourceKinds...)
	cli.AddKubernetesFlag(flags, &o.kubernetes)
	flags.StringVar(&o.policy, "policy", "",
		"file, URL or - with a Job, CronJob or podFailurePolicy that decides in place of the Jobs' own, or with PodFailurePolicies to add")
	flags.Func("now", "`time` at which Pods that live are judged and the outlook of Jobs is made, as 2026-11-22T06:00:00Z (default the time of the run)",
		func(text string) (err error) {
			if o.now, err = time.Parse(time.RFC3339, text); err != nil || o.now.IsZero() {
				return errors.New("must be a time as 2026-11-22T06:00:00Z")
			}
			return nil
		})
}

// input is what a verb that judges Pods has read.
type input struct {
	families []manifest.Family // Jobs with their Pods
	stream   *manifest.Stream  // Pods of files that are too many for families, or nil
	policies *effective.Source
	own      *manifest.Job // whose podFailurePolicy decides in place of the Jobs' own, or nil
	now      time.Time     // when Pods that live are judged
	nothing  string        // what to tell people when there are no Pods
	unread   error         // ends the verb: what is wrong with the documents that are left out
	// scenarios is whether to evaluate scenarios: the files have neither Pods nor an empty List of them.
	scenarios bool
	// bare is whether no Job runs the Pods.
	bare bool
	// before are the policies without the one of --policy; nil without --policy.
	before *effective.Source
}

// read reads Jobs with their Pods, and the policies that may decide on them.
func (o *inputOptions) read(ctx context.Context, c *cli.Console, args []string) (input, error) {
	in, added, err := o.readPolicy(ctx, c)
	if err != nil {
		return in, err
	}
	if err := o.source.Parse(c, args); err != nil {
		return in, err
	}
	if o.source.FromFiles() {
		err = in.readFiles(ctx, c, o.source.Files, o.streams)
	} else {
		err = in.readCluster(ctx, c, &o.source)
	}
	if err != nil || len(added) == 0 && in.own == nil {
		return in, err
	}
	if before := *in.policies; !in.bare {
		in.before = &before
	}
	for _, policy := range added {
		in.policies.Add(policy)
	}
	return in, nil
}

// readPolicy starts an input with the file of --policy: a Job, a podFailurePolicy alone, or PodFailurePolicies to add.
func (o *inputOptions) readPolicy(ctx context.Context, c *cli.Console) (in input, added []manifest.Policy, err error) {
	if in.now = o.now; in.now.IsZero() {
		in.now = time.Now()
	}
	if o.policy == "" {
		return in, nil, nil
	}
	if o.policy == "-" && slices.Contains(o.source.Files.Filenames, "-") {
		return in, nil, cli.StdinTwiceError("--policy")
	}
	set, err := cli.ReadFiles(ctx, c, manifest.Options{Filenames: []string{o.policy}, Parts: true})
	in.unread, err = cli.SplitErrors(set, err, o.source.Files.Strict)
	switch {
	case err != nil:
		return in, nil, err
	case in.unread != nil && len(set.Jobs)+len(set.Policies) == 0:
		return in, nil, cli.ErrNoPolicies
	case len(set.Jobs) == 1 && len(set.Policies) == 0:
		in.own = &set.Jobs[0]
		return in, nil, nil
	case len(set.Policies) > 0 && len(set.Jobs) == 0:
		return in, set.Policies, nil
	}
	return in, nil, fmt.Errorf("--policy %s: there are %d Jobs and %d PodFailurePolicies in it, and should be one Job, or policies",
		o.policy, len(set.Jobs), len(set.Policies))
}

// readFiles reads Jobs with their Pods, or leaves Pods that are too many to be held.
func (in *input) readFiles(ctx context.Context, c *cli.Console, files manifest.Options, streams bool) error {
	if !streams {
		set, unread, err := cli.ReadValid(ctx, c, files)
		if err != nil {
			return err
		}
		in.leave(unread)
		return in.take(c, set, files.Strict)
	}
	files.Stdin = c.Stdin
	stream := manifest.Open(ctx, files)
	unread, err := cli.SplitErrors(stream.Set, stream.Err(), files.Strict)
	switch {
	case stream.Whole:
		stream.Close()
		cli.NoteSkipped(c, stream.Set)
	case err == nil:
		in.stream, in.policies = stream, effective.FromFiles(stream.Set)
		return stream.Set.CheckPolicies()
	}
	if err != nil {
		stream.Close()
		return err
	}
	in.leave(unread)
	return in.take(c, stream.Set, files.Strict)
}

// leave leaves out documents, or Jobs.
func (in *input) leave(wrong ...error) {
	if err := errors.Join(wrong...); err != nil {
		in.unread = cli.UnreadError(errors.Join(in.unread, err))
	}
}

// take takes what was read whole.
func (in *input) take(c *cli.Console, set *manifest.Set, strict bool) error {
	in.scenarios = len(set.Pods) == 0 && set.Lists == 0
	switch {
	case len(set.Jobs) > 0:
	case in.unread == nil && in.scenarios && len(set.Policies) > 0:
		set.Jobs, set.Bindings = []manifest.Job{standIn()}, bindAll(set.Policies)
	case allBare(set.Pods):
		in.bare = true
	case len(set.Pods) > 0:
		return cli.ErrOnlyPods
	default:
		return cli.ErrNoJob
	}
	if len(set.Pods) == 0 && !in.scenarios {
		in.nothing = "no Pods in the input"
	}
	if err := set.CheckPolicies(); err != nil {
		return err
	}
	in.policies = effective.FromFiles(set)
	if in.bare {
		in.families = bareFamilies(set.Pods)
		return nil
	}
	families, others, err := set.Families()
	if err != nil {
		return err
	}
	if in.families = families; !strict {
		in.leaveOut()
	}
	noteMade(c, in.families)
	return noteOthers(c, others, strict || in.unread == nil && len(others) == len(set.Pods))
}

// leaveOut drops Jobs whose rules the API server would refuse, unless no others remain.
func (in *input) leaveOut() {
	var sound []manifest.Family
	var wrong []error
	for _, f := range in.families {
		if err := f.Job.Check(); err != nil {
			wrong = append(wrong, err)
		} else {
			sound = append(sound, f)
		}
	}
	if len(sound) > 0 {
		in.families = sound
		in.leave(wrong...)
	}
}

// noteMade notes the Jobs that are not in the input, but only what makes them.
func noteMade(c *cli.Console, families []manifest.Family) {
	jobs := map[string][]string{}
	var makers []string
	for _, f := range families {
		if maker := f.Job.MadeBy; maker != "" {
			if jobs[maker] == nil {
				makers = append(makers, maker)
			}
			jobs[maker] = append(jobs[maker], f.Job.Reference().String())
		}
	}
	for _, maker := range makers {
		subject := "Job " + jobs[maker][0] + " is"
		if n := len(jobs[maker]); n > 1 {
			subject = fmt.Sprintf("%d Jobs of %s are", n, maker)
		}
		c.Note(fmt.Sprintf("note: %s not in the input: judged as %s makes it now", subject, maker))
	}
}

// noteOthers notes how many Pods belong to no Job of the input. In a strict reading, each of them is an error.
func noteOthers(c *cli.Console, others []error, strict bool) error {
	if strict {
		return errors.Join(others...)
	}
	noteSkippedPods(c, len(others))
	return nil
}

func noteSkippedPods(c *cli.Console, n int) {
	switch {
	case n == 1:
		c.Note("skipped 1 pod that belongs to no Job of the input")
	case n > 0:
		c.Note(fmt.Sprintf("skipped %d pods that belong to no Job of the input", n))
	}
}

func (in *input) readCluster(ctx context.Context, c *cli.Console, s *cli.Source) error {
	client, shown, err := s.Connect(c)
	if err != nil {
		return err
	}
	defer shown.End()
	found, err := client.Families(ctx, s.Query)
	if err != nil {
		return err
	}
	if found.Unread != "" {
		c.Warn(found.Unread)
	}
	if in.families = found.Families; len(in.families) == 0 && len(found.Bare) > 0 {
		in.families, in.bare = bareFamilies(found.Bare), true
	}
	if in.policies, err = readClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	if !slices.ContainsFunc(in.families, func(f manifest.Family) bool { return len(f.Pods) > 0 }) {
		in.nothing, err = cli.NothingFound(ctx, client, s.Query)
	}
	return err
}

// readClusterPolicies reads the custom policies of a cluster. Users who may not read them are warned.
func readClusterPolicies(ctx context.Context, c *cli.Console, client *cluster.Cluster) (*effective.Source, error) {
	policies, bindings, unread, err := client.Policies(ctx)
	if err != nil {
		return nil, err
	}
	if unread != "" {
		c.Warn(unread)
	}
	return &effective.Source{Policies: policies, Bindings: bindings, NamespaceLabels: client.NamespaceLabels, Nodes: client.Nodes}, nil
}
