// Package eval implements the verb eval, which prints what each Pod's failure means for its Job.
package eval

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/verdicts"
	"github.com/podverdict/podverdict/compiler/cel"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
)

type options struct {
	input     verdicts.Options
	watch     bool
	all       bool
	noHeaders bool
	color     string
	output    cli.Format
	live      io.Writer // standard output, for verdicts that must not wait for the end
}

// New returns the verb eval.
func New(p *cli.Program) *cobra.Command {
	o := options{live: p.Stdout}
	cmd := &cobra.Command{
		Use:   "eval {FILE... | TYPE/NAME... | TYPE [NAME...]}",
		Short: "Say what each Pod's failure means for its Job",
		Long: `Say what each Pod's failure means for its Job: which rule of
spec.podFailurePolicy decides and why, and whether the failure counts towards
backoffLimit. A heading says how much of the Job's limits is used, and what
happens next: where the Job of a JobSet fails, also what its failurePolicy does.
Pods that cannot start, or cannot go, are listed with the reason.

Files are given as arguments or with -f. Without Pods, a Job that has no status
is judged on the scenarios that "podverdict test scenarios" lists: what would it
do if a node is drained, or a container runs out of memory? An empty List, as
kubectl writes it, says that there are no Pods.

In a cluster, job/NAME is a Job with its Pods, cronjob/NAME and jobset/NAME the
Jobs that a CronJob or JobSet has made, and pod/NAME a Pod with its Job; jobs,
cronjobs, jobsets or pods are all in the namespace. -l selects among these, and
with -A or -l alone Jobs are meant. Pods that have been deleted, by hand, with
their Job or by the garbage collector, cannot be seen. --watch judges Pods as
they fail, until you interrupt it or --request-timeout is over.

--policy tries another podFailurePolicy, or adds PodFailurePolicies
(podverdict.io) to all Jobs, in place of those of the same names. Both verdicts
are shown, those that change first. Pods that no Job runs, as those of Airflow,
can be judged by it, too; without it, eval says how each of them failed.
` + verdicts.CustomHelp + `
A Pod belongs to the Job that is its controller, else to the one that its
job-name label names. If files have a single Job and Pods with neither, the Pods
are that Job's.
` + cli.ConnectionHelp,
		Example: `  podverdict eval job.yaml
  podverdict eval job.yaml pods/
  podverdict eval job/demo
  podverdict eval jobs -A -o wide
  podverdict eval jobs -n batch --watch
  podverdict eval pod/demo-7xk2p --policy new.yaml
  podverdict eval airflow.yaml --policy new.yaml
  podverdict eval -f job.yaml -f pods/ -o json
  podverdict eval -f job.yaml -f pods/ -f policy.yaml -f binding.yaml
  podverdict eval -f job.yaml -f pods/ -o markdown
  podverdict eval job/demo -o jsonpath='{.items[*].verdict.action}'
  kubectl get jobs,pods -o yaml | podverdict eval -f - -o wide`,
		RunE: cli.Run(p, &o, run),
	}
	o.input.AddFlags(p, cmd)
	o.input.Fields, o.input.Statuses = shownFields, true
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on with the Pods that fail from now on, until interrupted")
	cmd.Flags().BoolVar(&o.all, "all", false, "list the Pods that have not failed, too; JSON and YAML always have them")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "only rows, each with the name of its Job")
	cli.AddColorFlag(cmd, &o.color)
	p.AddFormat(cmd, &o.output, "table", "wide", "json", "ndjson", "yaml", cli.JSONPath, "name", "markdown")
	return cmd
}

// run reads Jobs with their Pods, plans them, judges the Pods, and prints the verdicts.
func run(ctx context.Context, c *cli.Console, o *options, args []string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	if o.watch {
		return watch(ctx, c, o, args)
	}
	in, err := o.input.Read(ctx, c, args)
	defer in.Close() //nolint:staticcheck // it is to be closed also after an error
	defer func() { err = cli.JoinUnread(in.Unread, err) }()
	if err != nil {
		return err
	}
	printing := o.printing()
	printing.Out = c.Stdout
	if in.Long { // the result does not fit into memory either
		live := bufio.NewWriterSize(o.live, 1<<16)
		defer func() { err = errors.Join(err, cli.StdoutError(live.Flush())) }()
		printing.Out = live
	}
	if in.Nothing != "" && !o.output.IsObject() {
		printing.Out = io.Discard
	}
	shown := cli.NewProgress(c.Stderr, "Pods judged", in.Pods)
	defer shown.End()
	page := printing.Page(in.Scenarios)
	for one, err := range in.Judge(ctx, c, &o.input) {
		if err != nil {
			return err
		}
		shown.Add(len(one.Items))
		if err := page.Add(one); err != nil {
			return err
		}
	}
	shown.End()
	if in.Nothing != "" && !o.output.IsObject() {
		c.Note(in.Nothing)
		return nil
	}
	if !o.output.IsObject() {
		in.NoteForgotten(c)
	}
	return page.End()
}

// shownFields are the Pod fields that verdicts depend on or print.
var shownFields = func() cel.Fields {
	fields := cel.NewFields(
		"ObjectMeta.generateName", "PodStatus.message", "PodStatus.startTime", "ContainerStatus.lastState", "ContainerStatus.started",
		"PodSpec.schedulingGates", "PodSchedulingGate.*", "PodSpec.containers", "Container.restartPolicyRules", "ContainerRestartRule.*", "ContainerRestartRuleOnExitCodes.*",
		"ContainerState.*", "ContainerStateWaiting.*", "ContainerStateRunning.*", "ContainerStateTerminated.*",
	)
	fields.AddAll(controllerplan.PodFields)
	return fields
}()

// printing returns the options for printing verdicts.
func (o *options) printing() verdicts.Printing {
	return verdicts.Printing{
		Out: o.live, Format: &o.output, Screen: cli.ScreenOf(o.live, o.color), All: o.all, NoHeaders: o.noHeaders,
		Namespaces: o.input.Source.Query.AllNamespaces,
	}
}

// check returns an error for invalid flag values.
func (o *options) check() error {
	if err := cli.CheckColor(o.color); err != nil {
		return err
	}
	if o.watch && o.output.Name == "markdown" {
		return cli.Usagef("-o markdown is for verdicts that have an end, not for --watch")
	}
	return nil
}
