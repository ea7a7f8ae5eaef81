package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/check"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/rulebook"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

type options struct {
	files      manifest.Options
	kubernetes string
	script     string
	rate       float64
	seed       uint64
	until      time.Duration
	output     cli.Format
}

const help = `Simulate a Job's whole life on a virtual clock, with the code that the
controller runs: Pods are created, fail as a script says, get their verdicts,
and are retried after a back-off, until the Job completes or fails. Exits with 0
when it completes, and with 1 when it fails or does not end before --until.

A script says what Pods do, and what is done to the Job. This is a whole one:

  pods:
  - {index: 2, attempt: 1-2, run: 10s-2m, exitCode: 42}

The first rule that fits an attempt at an index decides; a Pod that none fits
succeeds after 30 seconds. The completions of a Job without indexes are numbered
in the same way. A rule of pods has, all optional:
  index, attempt   3, 0-9,12 or 2+; attempts at an index count from 1
  probability      the chance that the rule is taken, 0 to 1
  pending          how long the Pod takes to start (1s); 10s-2m draws a time
                   in between, forever is possible
  waiting          why its first container waits while it is pending, as in
                   ImagePullBackOff
  unschedulable    true: there is no node for the Pod while it is pending
  ready            how long its first container takes to be ready (0s)
  run              how long its containers run (30s)
  stop             how long they run on when told to stop (1s), at most the
                   grace period
  stopExitCode     what they exit with then (143)
  exitCode         of the first container
  exitCodes        of containers by name, as {main: 0, sidecar: 143}
  oom              true: the first container is OOMKilled
  needs            the memory it needs, as 900Mi: if its limit is lower, it is
                   OOMKilled, else the rest of the rule counts
  condition        of the failed Pod; with DisruptionTarget it was evicted

All Jobs of a JobSet are simulated on one clock, with its failurePolicy: which
rule applies, what restarts, and when it ends. Rules of pods may then have:
  job              a replicatedJob, as workers, or one of its Jobs, workers-0
  restart          of the Job's lives: 0 is the first; 3, 0-9,12 or 2+

A script may also have nodes, their number, on which Pods are placed in turn,
and events, not for JobSets, each with a time (at) and:
  suspend          true or false
  parallelism, completions
  delete, evict    indexes whose active Pods are deleted, or evicted
  drain            a node (node-0 and so on): its Pods are evicted, and it
                   takes no more
  lose, restore    a node whose kubelet no longer answers, or does again
  outOfService     a node that gets the taint of this name

Custom policies given beside the Job are in force as for eval, with their
budgets and delays: they decide on the failed Pods of a Job that says managedBy:
podverdict.io/job-controller. The failed Pods of other Jobs are judged by the
Job's own podFailurePolicy alone. Pods that live and match a rule on their phase
are ended where livingPods of a binding has it, whoever runs the Job.

Without a script, Pods run for 30 seconds to 5 minutes and fail at
--failure-rate: half of them with exit code 1, the others OOMKilled or
disrupted. --seed draws what is left to chance: the same seed gives the same
life.`

// New returns the simulate command.
func New(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "simulate -f JOB [-f POLICY] [--script SCRIPT]",
		Short: "Simulate a Job's or JobSet's whole life on a virtual clock",
		Long:  help,
		Example: `  podverdict simulate -f job.yaml
  podverdict simulate -f job.yaml --script script.yaml
  podverdict simulate -f job.yaml --failure-rate 0.2 --seed 7 -o wide
  podverdict simulate -f job.yaml -f policy.yaml --script script.yaml
  podverdict simulate -f job.yaml --script script.yaml -o json`,
		Args: cli.FileArguments(&o.files.Filenames),
		RunE: cli.Run(p, &o, run),
	}
	flags := cmd.Flags()
	p.AddFileFlags(flags, &o.files)
	cli.AddKubernetesFlag(flags, &o.kubernetes)
	flags.StringVar(&o.script, "script", "", "file, URL or - with the script")
	flags.Float64Var(&o.rate, "failure-rate", 0.05, "share of the attempts that fail, 0 to 1, when there is no script")
	flags.Uint64Var(&o.seed, "seed", 1, "number that what is left to chance is drawn with")
	flags.DurationVar(&o.until, "until", 24*time.Hour, "when to give up, since the creation of the Job")
	p.AddFormat(cmd, &o.output, "text", "wide", "json", "yaml")
	return cmd
}

// run reads a Job with its policies and the script, determines the rules for its Pods, simulates its life, and prints the result.
func run(ctx context.Context, c *cli.Console, o *options, _ []string) (err error) {
	if err := o.check(c); err != nil {
		return err
	}
	jobs, policies, unread, err := o.readSimulated(ctx, c)
	defer func() { err = cli.JoinUnread(unread, err) }()
	if err != nil {
		return err
	}
	book, err := rulebook.New(c, o.kubernetes, policies, nil)
	if err != nil {
		return err
	}
	script, origin, err := o.readScript(ctx, c)
	if err != nil {
		return err
	}
	lives := make([]simulation.Options, len(jobs))
	for i, job := range jobs {
		stored := job.Stored()
		rules, err := book.For(ctx, stored)
		if err != nil {
			return job.PolicyError(err)
		}
		for _, idle := range rules.Effect.Idle() {
			c.Warn(fmt.Sprintf("nobody carries out the verdicts of policy %s: %s", idle.Policy, idle.NotCarriedOut))
		}
		lives[i] = simulation.Options{
			Job: stored, Program: acting(rules), Selection: rules.Selection,
			Script: script, Kubernetes: book.Kubernetes, Seed: o.seed, Until: o.until,
		}
	}
	shown := cli.NewProgress(c.Stderr, "Pods simulated", 0)
	lives[0].Progress = shown.Add
	outcome, write, err := o.simulate(ctx, jobs, lives)
	shown.End()
	if err != nil {
		return scriptError(err, origin)
	}
	if err := write(c.Stdout); err != nil {
		return err
	}
	if unread == nil && outcome != simulation.Complete {
		return cli.ErrFindings
	}
	return nil
}

// simulate simulates a Job, or the Jobs of a JobSet, and returns the outcome and a function that prints the result.
func (o *options) simulate(
	ctx context.Context, jobs []manifest.Job, options []simulation.Options,
) (outcome string, write func(io.Writer) error, err error) {
	if jobs[0].JobSet != nil {
		return o.simulateSet(ctx, jobs, options)
	}
	result, err := simulation.Run(ctx, options[0])
	if err != nil {
		return "", nil, err
	}
	return result.Outcome, func(out io.Writer) error { return o.print(out, result) }, nil
}

func (o *options) check(c *cli.Console) error {
	switch {
	case o.script != "" && c.Given("failure-rate"):
		return cli.Usagef("--failure-rate is for simulations without a --script")
	case !(o.rate >= 0 && o.rate <= 1):
		return cli.Usagef("--failure-rate must be from 0 to 1")
	case o.until <= 0:
		return cli.Usagef("--until must be a time to come")
	case o.script == "-" && slices.Contains(o.files.Filenames, "-"):
		return cli.StdinTwiceError("--script")
	}
	return nil
}

// readSimulated reads custom policies and one Job, or the Jobs of one JobSet, and reports errors for which the API server would reject
// them.
func (o *options) readSimulated(ctx context.Context, c *cli.Console) (jobs []manifest.Job, policies *effective.Source, unread, err error) {
	set, unread, err := cli.ReadValid(ctx, c, o.files)
	switch {
	case err != nil:
	case len(set.Jobs) == 0:
		err = cli.ErrNoJob
	case len(set.Jobs) != 1 && !ofOneSet(set.Jobs):
		err = fmt.Errorf("there are %d Jobs in the input, and should be one, or those of one JobSet", len(set.Jobs))
	default:
		jobs, policies = set.Jobs, effective.FromFiles(set)
		err = errors.Join(set.CheckPolicies(), checkJobSet(jobs[0]))
		for _, job := range jobs {
			err = errors.Join(err, check.Job(ctx, job))
		}
	}
	return jobs, policies, unread, err
}

// acting returns the Program that decides on failed Pods of a simulated Job. It returns nil if there are no rules, because upstream then
// replaces Pods before they have ended.
func acting(rules snapshot.Rules) *runtime.Program {
	if rules.None() {
		return nil
	}
	return rules.Effect.Acting
}

// readScript reads the script, or creates a random one if --script is not set, and returns the script's origin.
func (o *options) readScript(ctx context.Context, c *cli.Console) (script simulation.Script, origin manifest.Origin, err error) {
	if o.script == "" {
		return simulation.Random(o.rate), origin, nil
	}
	_, origin, err = manifest.ReadPart(ctx, manifest.Options{Stdin: c.Stdin}, o.script, &script)
	return script, origin, err
}

// scriptError adds file positions to errors in the script.
func scriptError(err error, origin manifest.Origin) error {
	refused, ok := errors.AsType[*simulation.ScriptError](err)
	if !ok {
		return err
	}
	return errors.Join(origin.Errors(refused.Errors)...)
}

// simulationResult is the JSON and YAML output for a Job. It is a stable format for other programs.
type simulationResult struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Job        manifest.Reference `json:"job"`
	Seed       uint64             `json:"seed"`
	Outcome    string             `json:"outcome"`
	Reason     string             `json:"reason,omitempty"`
	Message    string             `json:"message,omitempty"`
	Seconds    int64              `json:"seconds"`
	Summary    simulation.Summary `json:"summary"`
	Status     batchv1.JobStatus  `json:"status"`
	Events     []simulation.Event `json:"events"`
}

func (o *options) print(out io.Writer, r *simulation.Result) error {
	if o.output.IsObject() {
		return o.output.WriteObject(out, simulationResult{
			APIVersion: print.APIVersion, Kind: "SimulationResult", Job: manifest.Reference{Namespace: r.Namespace, Name: r.Name}, Seed: o.seed,
			Outcome: r.Outcome, Reason: r.Reason, Message: r.Message, Seconds: r.Seconds,
			Summary: r.Summary, Status: r.Status, Events: r.Events,
		})
	}
	writeTimeline(out, r, o.output.Name == "wide")
	_, err := out.Write([]byte("\n"))
	writeSummary(out, r)
	return err
}
