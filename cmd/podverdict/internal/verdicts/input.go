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

// CustomHelp explains in help texts which custom policies are in force.
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
	Policy     string // file name
	Kubernetes string
	now        time.Time
	OnlyPods   bool       // accept Pods whose Jobs are missing
	Fields     cel.Fields // Pod fields that the verb reads, in addition to the fields that rules read
	Uncompared bool       // skip the verdicts without --policy
	Statuses   bool       // explain a Job that has a status by that status instead of by scenarios
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

// Input is the input of a verb that judges Pods.
type Input struct {
	*gathering.Gathering // Jobs with their Pods; nil if nothing could be read

	Policies *effective.Source
	Own      *manifest.Job     // Job whose podFailurePolicy replaces the Jobs' own, or nil
	Added    []manifest.Policy // policies from --policy
	Now      time.Time         // time at which living Pods are judged
	Nothing  string            // printed when there are no Pods
	Unread   error             // error about skipped documents, returned at the end of the verb
	strict   bool              // fail on the first invalid Job or Pod
	// Scenarios reports whether to evaluate scenarios: the files contain neither Pods nor an empty List.
	Scenarios bool
	// bare reports whether the Pods have no Job.
	bare bool
	// forgotten is the number of Pods with unknown earlier attempts.
	forgotten int
	// before holds the policies without the ones from --policy; nil without --policy.
	before *effective.Source

	kept cel.Fields // Pod fields kept while reading a long input; nil means all
}

// Read reads Jobs with their Pods, and the policies that may apply to them. The caller closes the input, even after an error.
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
	if !o.OnlyPods { // report compares policies itself
		for _, policy := range in.Added {
			in.Policies.Add(policy)
		}
	}
	return in, nil
}

// Close removes the temporary file that holds part of the input.
func (in *Input) Close() error {
	if in.Gathering == nil {
		return nil
	}
	return in.Gathering.Close()
}

// ReadPolicy starts an input with the --policy file, which contains a Job, a bare podFailurePolicy, or PodFailurePolicies to add.
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

// onlyPods returns the error for Pods without Jobs. It names a Pod that cannot be deleted because its Job is gone.
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

// fieldsFor returns the Pod fields that the verb and the policies read so far need; nil means all.
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

// policiesOf returns the policies from files and --policy, compiled where possible.
func policiesOf(kubernetes string, set *manifest.Set, added []manifest.Policy) []effective.Policy {
	source := effective.FromFiles(&manifest.Set{Policies: slices.Concat(set.Policies, added)})
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil // NewPlanner reports the error
	}
	policies, err := effective.New(environment, source)
	if err != nil {
		return nil
	}
	return policies.All
}

// checkKept returns an error for a policy that reads Pod fields which were dropped because the policy follows the Pods.
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

// Leave records errors about skipped documents or Jobs.
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

// ClusterPolicies reads the custom policies of a cluster. It warns users who may not read them.
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
