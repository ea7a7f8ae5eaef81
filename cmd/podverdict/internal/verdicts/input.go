package verdicts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// CustomHelp says which custom policies are in force.
const CustomHelp = `
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

// Options are the flags of verbs that judge Pods.
type Options struct {
	Source     cli.Source
	Policy     string // a file
	Kubernetes string
	now        time.Time
	OnlyPods   bool       // whether Pods whose Jobs are missing are of use
	Fields     cel.Fields // of Pods that the verb reads, besides those that rules read
	Uncompared bool       // whether the verdicts without --policy are of no use
	Statuses   bool       // whether a Job with a status is explained by it, and not by scenarios
}

// AddSourceFlags adds the flags for input files and clusters to a verb.
func (o *Options) AddSourceFlags(p *cli.Program, cmd *cobra.Command) {
	o.Source.AddFlags(p, cmd.Flags(), cluster.Job, cluster.CronJob, cluster.JobSet, cluster.Pod)
	cli.AddKubernetesFlag(cmd.Flags(), &o.Kubernetes)
	cli.AddSourceCompletions(cmd, &o.Source)
}

// AddFlags adds all flags to a verb.
func (o *Options) AddFlags(p *cli.Program, cmd *cobra.Command) {
	o.AddSourceFlags(p, cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Policy, "policy", "",
		"file, URL or - with a Job, CronJob or podFailurePolicy that decides in place of the Jobs' own, or with PodFailurePolicies to add")
	flags.Func("now", "`time` at which Pods that live are judged and the outlook of Jobs is made, as 2026-11-22T06:00:00Z (default the time of the run)",
		func(text string) (err error) {
			if o.now, err = time.Parse(time.RFC3339, text); err != nil || o.now.IsZero() {
				return errors.New("must be a time as 2026-11-22T06:00:00Z")
			}
			return nil
		})
}

// Input is what a verb that judges Pods has read.
type Input struct {
	*gathering.Gathering // Jobs with their Pods; nil if nothing could be read

	Policies *effective.Source
	Own      *manifest.Job     // whose podFailurePolicy decides in place of the Jobs' own, or nil
	Added    []manifest.Policy // of --policy
	Now      time.Time         // when Pods that live are judged
	Nothing  string            // what to tell people when there are no Pods
	Unread   error             // ends the verb: what is wrong with the documents that are left out
	strict   bool              // to the first Job or Pod that is wrong
	// Scenarios is whether to evaluate scenarios: the files have neither Pods nor an empty List of them.
	Scenarios bool
	// bare is whether no Job runs the Pods.
	bare bool
	// forgotten is how many Pods have earlier attempts that are not known.
	forgotten int
	// before are the policies without the one of --policy; nil without --policy.
	before *effective.Source

	kept cel.Fields // fields that Pods of a long input have; nil is all
}

// Read reads Jobs with their Pods, and the policies that may decide on them. The caller closes the input, also after an error.
func (o *Options) Read(ctx context.Context, c *cli.Console, args []string) (Input, error) {
	in, err := o.ReadPolicy(ctx, c)
	if err != nil {
		return in, err
	}
	if err := o.Source.Parse(c, args); err != nil {
		return in, err
	}
	if o.Source.FromFiles() {
		err = in.readFiles(ctx, c, o)
	} else {
		err = in.readCluster(ctx, c, &o.Source)
	}
	if err != nil || len(in.Added) == 0 && in.Own == nil {
		return in, err
	}
	if before := *in.Policies; !in.bare {
		in.before = &before
	}
	if !o.OnlyPods { // report compares
		for _, policy := range in.Added {
			in.Policies.Add(policy)
		}
	}
	return in, nil
}

// Close removes what is kept of the input in a temporary file.
func (in *Input) Close() error {
	if in.Gathering == nil {
		return nil
	}
	return in.Gathering.Close()
}

// ReadPolicy starts an input with the file of --policy: a Job, a podFailurePolicy alone, or PodFailurePolicies to add.
func (o *Options) ReadPolicy(ctx context.Context, c *cli.Console) (in Input, err error) {
	in.strict = o.Source.Files.Strict
	if in.Now = o.now; in.Now.IsZero() {
		in.Now = time.Now()
	}
	if o.Policy == "" {
		return in, nil
	}
	if o.Policy == "-" && slices.Contains(o.Source.Files.Filenames, "-") {
		return in, cli.StdinTwiceError("--policy")
	}
	set, err := cli.ReadFiles(ctx, c, manifest.Options{Filenames: []string{o.Policy}, Parts: true})
	in.Unread, err = cli.SplitErrors(set, err, o.Source.Files.Strict)
	switch {
	case err != nil:
		return in, err
	case in.Unread != nil && len(set.Jobs)+len(set.Policies) == 0:
		return in, cli.ErrNoPolicies
	case len(set.Jobs) == 1 && len(set.Policies) == 0:
		in.Own = &set.Jobs[0]
		return in, nil
	case len(set.Policies) > 0 && len(set.Jobs) == 0:
		in.Added = set.Policies
		return in, nil
	}
	return in, fmt.Errorf("--policy %s: there are %d Jobs and %d PodFailurePolicies in it, and should be one Job, or policies",
		o.Policy, len(set.Jobs), len(set.Policies))
}

// readFiles reads Jobs with their Pods from files.
func (in *Input) readFiles(ctx context.Context, c *cli.Console, o *Options) error {
	files := o.Source.Files
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
	in.Leave(unread)
	hasStatus := o.Statuses && g.HasStatus()
	in.Scenarios = g.Pods == 0 && g.Set.Lists == 0 && !hasStatus
	switch standsIn := unread == nil && in.Scenarios && len(g.Set.Policies) > 0; {
	case g.Jobs > 0 || o.OnlyPods:
	case standsIn:
		job := StandIn()
		g.Hold(&job)
		g.Set.Bindings = BindAll(g.Set.Policies)
	case g.Bare():
		in.bare = true
	case g.Pods > 0:
		return onlyPods(g.Set.Pods)
	default:
		return cli.ErrNoJob
	}
	explained := o.Statuses && (g.HasFailed() || g.Jobs == 1 && hasStatus)
	if g.Pods == 0 && (o.OnlyPods || !in.Scenarios) && !explained {
		in.Nothing = "no Pods in the input"
	}
	in.Policies = effective.FromFiles(g.Set)
	return cmp.Or(g.Set.CheckPolicies(), in.checkKept(o))
}

// onlyPods returns the error about Pods without Jobs. It names one that cannot go because its Job is gone.
func onlyPods(pods []manifest.Pod) error {
	for _, pod := range pods {
		claim, _ := manifest.ClaimOf(pod.Object)
		if claim.Name != "" && pod.Object.DeletionTimestamp != nil && slices.Contains(pod.Object.Finalizers, batchv1.JobTrackingFinalizer) {
			return fmt.Errorf("%w. Pod %s was deleted and is kept by finalizer %s: if Job %s is gone, nobody removes it but you, with kubectl patch, "+
				"or podverdict rescue if podverdict ran the Job", cli.ErrOnlyPods, pod.Reference(), batchv1.JobTrackingFinalizer, claim.Name)
		}
	}
	return cli.ErrOnlyPods
}

// fieldsFor returns the fields of Pods that the verb needs under the policies that were read; nil means all.
func (o *Options) fieldsFor(in *Input, set *manifest.Set) cel.Fields {
	fields := cel.Fields{}
	fields.AddAll(o.Fields)
	for _, policy := range policiesOf(o.Kubernetes, set, in.Added) {
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
		return nil // which NewPlanner reports
	}
	policies, err := effective.New(environment, source)
	if err != nil {
		return nil
	}
	return policies.All
}

// checkKept refuses a policy that reads fields of Pods which were not kept, because it comes after them.
func (in *Input) checkKept(o *Options) error {
	if !in.Long || in.kept == nil {
		return nil
	}
	for _, policy := range policiesOf(o.Kubernetes, in.Set, nil) {
		if policy.Compiled != nil && !in.kept.Covers(policy.Compiled.Compiled.Reads.Pod) {
			return policy.Origin.Error("", "comes after too many Pods, of which not all fields were kept: give it before them")
		}
	}
	return nil
}

// Leave leaves out documents, or Jobs.
func (in *Input) Leave(wrong ...error) {
	if err := errors.Join(wrong...); err != nil {
		in.Unread = cli.UnreadError(errors.Join(in.Unread, err))
	}
}

func (in *Input) readCluster(ctx context.Context, c *cli.Console, s *cli.Source) error {
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
	if in.Policies, err = ClusterPolicies(ctx, c, client); err != nil {
		return err
	}
	if len(found.Pods) == 0 {
		in.Nothing, err = cli.NothingFound(ctx, client, s.Query)
	}
	return err
}

// ClusterPolicies reads the custom policies of a cluster. Users who may not read them are warned.
func ClusterPolicies(ctx context.Context, c *cli.Console, client *cluster.Cluster) (*effective.Source, error) {
	policies, bindings, unread, err := client.Policies(ctx)
	if err != nil {
		return nil, err
	}
	if unread != "" {
		c.Warn(unread)
	}
	return &effective.Source{Policies: policies, Bindings: bindings, NamespaceLabels: client.NamespaceLabels, Nodes: client.Nodes}, nil
}
