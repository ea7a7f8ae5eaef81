package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/gathering"
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
	onlyPods   bool       // whether Pods whose Jobs are missing are of use
	fields     cel.Fields // of Pods that the verb reads, besides those that rules read
	uncompared bool       // whether the verdicts without --policy are of no use
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
	*gathering.Gathering // Jobs with their Pods; nil if nothing could be read

	policies *effective.Source
	own      *manifest.Job     // whose podFailurePolicy decides in place of the Jobs' own, or nil
	added    []manifest.Policy // of --policy
	now      time.Time         // when Pods that live are judged
	nothing  string            // what to tell people when there are no Pods
	unread   error             // ends the verb: what is wrong with the documents that are left out
	strict   bool              // to the first Job or Pod that is wrong
	// scenarios is whether to evaluate scenarios: the files have neither Pods nor an empty List of them.
	scenarios bool
	// bare is whether no Job runs the Pods.
	bare bool
	// before are the policies without the one of --policy; nil without --policy.
	before *effective.Source

	kept cel.Fields // fields that Pods of a long input have; nil is all
}

// read reads Jobs with their Pods, and the policies that may decide on them. The caller closes the input, also after an error.
func (o *inputOptions) read(ctx context.Context, c *cli.Console, args []string) (input, error) {
	in, err := o.readPolicy(ctx, c)
	if err != nil {
		return in, err
	}
	if err := o.source.Parse(c, args); err != nil {
		return in, err
	}
	if o.source.FromFiles() {
		err = in.readFiles(ctx, c, o)
	} else {
		err = in.readCluster(ctx, c, &o.source)
	}
	if err != nil || len(in.added) == 0 && in.own == nil {
		return in, err
	}
	if before := *in.policies; !in.bare {
		in.before = &before
	}
	if !o.onlyPods { // report compares
		for _, policy := range in.added {
			in.policies.Add(policy)
		}
	}
	return in, nil
}

// close removes what is kept of the input in a temporary file.
func (in *input) close() error {
	if in.Gathering == nil {
		return nil
	}
	return in.Gathering.Close()
}

// readPolicy starts an input with the file of --policy: a Job, a podFailurePolicy alone, or PodFailurePolicies to add.
func (o *inputOptions) readPolicy(ctx context.Context, c *cli.Console) (in input, err error) {
	in.strict = o.source.Files.Strict
	if in.now = o.now; in.now.IsZero() {
		in.now = time.Now()
	}
	if o.policy == "" {
		return in, nil
	}
	if o.policy == "-" && slices.Contains(o.source.Files.Filenames, "-") {
		return in, cli.StdinTwiceError("--policy")
	}
	set, err := cli.ReadFiles(ctx, c, manifest.Options{Filenames: []string{o.policy}, Parts: true})
	in.unread, err = cli.SplitErrors(set, err, o.source.Files.Strict)
	switch {
	case err != nil:
		return in, err
	case in.unread != nil && len(set.Jobs)+len(set.Policies) == 0:
		return in, cli.ErrNoPolicies
	case len(set.Jobs) == 1 && len(set.Policies) == 0:
		in.own = &set.Jobs[0]
		return in, nil
	case len(set.Policies) > 0 && len(set.Jobs) == 0:
		in.added = set.Policies
		return in, nil
	}
	return in, fmt.Errorf("--policy %s: there are %d Jobs and %d PodFailurePolicies in it, and should be one Job, or policies",
		o.policy, len(set.Jobs), len(set.Policies))
}

// readFiles reads Jobs with their Pods from files.
func (in *input) readFiles(ctx context.Context, c *cli.Console, o *inputOptions) error {
	files := o.source.Files
	files.Stdin = c.Stdin
	shown := cli.NewProgress(c.Stderr, "Pods read", 0)
	g, err := gathering.Read(ctx, files, func(set *manifest.Set) cel.Fields { in.kept = o.fieldsFor(in, set); return in.kept }, shown.Add)
	shown.End()
	in.Gathering = g
	cli.NoteSkipped(c, g.Set)
	unread, err := cli.SplitErrors(g.Set, err, in.strict)
	if err != nil {
		return err
	}
	in.leave(unread)
	in.scenarios = g.Pods == 0 && g.Set.Lists == 0
	switch standsIn := unread == nil && in.scenarios && len(g.Set.Policies) > 0; {
	case g.Jobs > 0 || o.onlyPods:
	case standsIn:
		job := standIn()
		g.Hold(&job)
		g.Set.Bindings = bindAll(g.Set.Policies)
	case g.Bare():
		in.bare = true
	case g.Pods > 0:
		return cli.ErrOnlyPods
	default:
		return cli.ErrNoJob
	}
	if g.Pods == 0 && (o.onlyPods || !in.scenarios) {
		in.nothing = "no Pods in the input"
	}
	in.policies = effective.FromFiles(g.Set)
	return cmp.Or(g.Set.CheckPolicies(), in.checkKept(o))
}

// fieldsFor returns the fields of Pods that the verb needs under the policies that were read; nil means all.
func (o *inputOptions) fieldsFor(in *input, set *manifest.Set) cel.Fields {
	fields := cel.Fields{}
	fields.AddAll(o.fields)
	for _, policy := range policiesOf(o.kubernetes, set, in.added) {
		if policy.Compiled == nil {
			return nil
		}
		fields.AddAll(policy.Compiled.Compiled.Reads.Pod)
	}
	return fields
}

// policiesOf returns the policies of files and of --policy, compiled where that is possible.
func policiesOf(kubernetes string, set *manifest.Set, added []manifest.Policy) []effective.Policy {
	source := effective.FromFiles(&manifest.Set{Policies: slices.Concat(set.Policies, added)})
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil // which newPlanner reports
	}
	policies, err := effective.New(environment, source)
	if err != nil {
		return nil
	}
	return policies.All
}

// checkKept refuses a policy that reads fields of Pods which were not kept, because it comes after them.
func (in *input) checkKept(o *inputOptions) error {
	if !in.Long || in.kept == nil {
		return nil
	}
	for _, policy := range policiesOf(o.kubernetes, in.Set, nil) {
		if policy.Compiled != nil && !in.kept.Covers(policy.Compiled.Compiled.Reads.Pod) {
			return policy.Origin.Error("", "comes after too many Pods, of which not all fields were kept: give it before them")
		}
	}
	return nil
}

// leave leaves out documents, or Jobs.
func (in *input) leave(wrong ...error) {
	if err := errors.Join(wrong...); err != nil {
		in.unread = cli.UnreadError(errors.Join(in.unread, err))
	}
}

func (in *input) readCluster(ctx context.Context, c *cli.Console, s *cli.Source) error {
	client, shown, err := s.Connect(c)
	if err != nil {
		return err
	}
	defer shown.End()
	found, err := client.JobsWithPods(ctx, s.Query)
	if err != nil {
		return err
	}
	if found.Unread != "" {
		c.Warn(found.Unread)
	}
	if in.bare = len(found.Jobs) == 0 && len(found.Bare) > 0; in.bare {
		found.Pods = found.Bare
	}
	in.Gathering = gathering.Of(found.Jobs, found.Pods)
	if in.policies, err = readClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	if len(found.Pods) == 0 {
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
