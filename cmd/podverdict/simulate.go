package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/timeline"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/runtime/rego"
)

type simulating struct {
	input  input
	script string
	rate   float64
	seed   uint64
	until  time.Duration
	svg    string
	output format
}

func newSimulate() *cobra.Command {
	var s simulating
	cmd := &cobra.Command{
		Use:   "simulate -f JOB [-f POLICY] [--script SCRIPT]",
		Short: "Live a Job's whole life on a virtual clock",
		Long: `Live a Job's whole life on a virtual clock, in the hands of the code that the controller runs: Pods are created, fail
as a script says, get their verdicts, and are retried after a back-off, until the Job completes or fails. Exits with 0
when it completes, and with 1 when it fails, or does not end before --until.

A script says what Pods do, and what is done to the Job. This is a whole one; the first rule that fits an attempt at an
index decides, and a Pod that none fits succeeds after 30 seconds. The completions of a Job without indexes are numbered
the same way:

  pods:
  - {index: 2, attempt: 0-1, run: 10s-2m, exitCode: 42}

A rule of pods has, all optional:
  index, attempt   3, 0-9,12 or 1+; attempts at an index are counted from 0
  probability      the chance that the rule is taken, 0 to 1
  pending          how long the Pod takes to start (1s); 10s-2m draws, forever is possible
  waiting          why its first container waits as long as it is pending, as ImagePullBackOff
  unschedulable    true: there is no node for the Pod as long as it is pending
  run              how long its containers run (30s)
  stop             how long they run on when told to stop (1s), at most the grace period
  exitCode         of the first container
  exitCodes        of containers by name, as {main: 0, sidecar: 143}
  oom              true: the first container is OOMKilled
  condition        of the failed Pod; with DisruptionTarget the kubelet has evicted it

A script may also have nodes, their number, on which Pods are placed in turn, and events, each with at, the time, and:
  suspend          true or false
  parallelism, completions
  delete, evict    indexes whose active Pods are deleted, or evicted by the API
  drain            a node, node-0 and so on, whose Pods are evicted and which takes no more

Custom policies given beside the Job are in force as for eval, with their budgets and delays. Where a binding says
pendingPods: Delete, Pods that rules on Pending match are deleted. The failed Pods of a Job that says
managedBy: kubernetes.io/job-controller get their verdicts from its own podFailurePolicy alone, as Kubernetes gives them.

Without a script, Pods run for 30 seconds to 5 minutes and fail at --failure-rate: half of them with exit code 1, the
others OOMKilled or disrupted. What is left to chance is drawn with --seed: the same seed gives the same life.`,
		Example: `  podverdict simulate -f job.yaml
  podverdict simulate -f job.yaml --script script.yaml --svg timeline.svg
  podverdict simulate -f job.yaml --failure-rate 0.2 --seed 7 -o wide
  podverdict simulate -f job.yaml -f policy.yaml --script script.yaml
  podverdict simulate -f job.yaml --script script.yaml -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.input.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&s.script, "script", "", "file, URL or - with the script")
	flags.Float64Var(&s.rate, "failure-rate", 0.05, "share of the attempts that fail, 0 to 1, when there is no script")
	flags.Uint64Var(&s.seed, "seed", 1, "number that what is left to chance is drawn with")
	flags.DurationVar(&s.until, "until", 24*time.Hour, "when to give up, since the creation of the Job")
	flags.StringVar(&s.svg, "svg", "", "file to draw a timeline to, as SVG")
	addFormat(cmd, &s.output, "text", "wide", "json", "yaml")
	return cmd
}

// simulationResult is what simulate writes as JSON and YAML; a contract with other programs.
type simulationResult struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Job        reference          `json:"job"`
	Seed       uint64             `json:"seed"`
	Outcome    string             `json:"outcome"`
	Reason     string             `json:"reason,omitempty"`
	Message    string             `json:"message,omitempty"`
	Seconds    int64              `json:"seconds"`
	Summary    simulation.Summary `json:"summary"`
	Status     batchv1.JobStatus  `json:"status"`
	Events     []simulation.Event `json:"events"`
}

func (s *simulating) run(cmd *cobra.Command) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	job, policies, err := s.readJob(cmd)
	if err != nil {
		return err
	}
	options, origin, err := s.options(cmd, job, policies)
	if err != nil {
		return err
	}
	result, err := simulation.Run(cmd.Context(), options)
	if err != nil {
		return scriptError(err, origin)
	}
	if err := s.write(cmd, result); err != nil {
		return err
	}
	if result.Outcome != simulation.Complete {
		return errFindings
	}
	return nil
}

func (s *simulating) check(cmd *cobra.Command) error {
	switch {
	case s.script != "" && cmd.Flags().Changed("failure-rate"):
		return errUsage(cmd, errors.New("--failure-rate is for simulations without a --script"))
	case !(s.rate >= 0 && s.rate <= 1):
		return errUsage(cmd, errors.New("--failure-rate must be from 0 to 1"))
	case s.until <= 0:
		return errUsage(cmd, errors.New("--until must be a time to come"))
	case s.script == "-" && slices.Contains(s.input.Filenames, "-"):
		return errUsage(cmd, errStdinTwice("--script"))
	}
	return nil
}

// readJob reads one Job, and the custom policies beside it, and refuses what the API server would.
func (s *simulating) readJob(cmd *cobra.Command) (manifest.Job, *inforce.Source, error) {
	set, err := s.input.read(cmd)
	if err != nil {
		return manifest.Job{}, nil, err
	}
	if len(set.Jobs) != 1 {
		return manifest.Job{}, nil, fmt.Errorf("there are %d Jobs in the input, and should be one", len(set.Jobs))
	}
	if err := set.CheckPolicies(); err != nil {
		return manifest.Job{}, nil, err
	}
	job := set.Jobs[0]
	return job, inforce.FromFiles(set), checkJob(cmd.Context(), job)
}

// checkJob refuses a Job that the API server would.
func checkJob(ctx context.Context, job manifest.Job) error {
	validator, err := rego.New(ctx, rego.Options{})
	if err != nil {
		return err
	}
	found, err := replacement{job: job}.validate(ctx, validator)
	if err != nil {
		return job.Whole().Error("", err.Error())
	}
	var errs []error
	for _, f := range found {
		if f.Severity == "error" {
			errs = append(errs, job.Whole().Error(f.Field, f.Sentence()))
		}
	}
	return errors.Join(errs...)
}

// options are those of the simulation, and where the script was read.
func (s *simulating) options(
	cmd *cobra.Command, job manifest.Job, policies *inforce.Source,
) (simulation.Options, manifest.Origin, error) {
	planned, err := s.plan(cmd, job, policies)
	if err != nil {
		return simulation.Options{}, manifest.Origin{}, err
	}
	o := simulation.Options{
		Job: planned.job.DeepCopy(), Program: planned.program, Selection: planned.selection,
		Script: simulation.Random(s.rate), Seed: s.seed, Until: s.until,
	}
	if !planned.policy {
		o.Program = nil // no rules at all: as upstream, pods are then replaced before they have ended
	}
	if s.script == "" {
		return o, manifest.Origin{}, nil
	}
	o.Script = simulation.Script{}
	_, origin, err := manifest.ReadPart(cmd.Context(), s.input.Options, s.script, &o.Script)
	return o, origin, err
}

// plan is that of the Job. Of one that says that Kubernetes runs it, only its own rules decide on failed Pods.
func (s *simulating) plan(cmd *cobra.Command, job manifest.Job, policies *inforce.Source) (plan, error) {
	planner, err := newPlanner(cmd, &s.input, policies)
	if err != nil {
		return plan{}, err
	}
	planned, err := planner.plan(cmd.Context(), job)
	if err != nil || ptr.Deref(planned.job.Spec.ManagedBy, "") != batchv1.JobControllerName {
		return planned, err
	}
	planned.program, planned.policy = planned.own, job.Object.Spec.PodFailurePolicy != nil
	return planned, nil
}

// scriptError gives what is wrong with the script its place in the file.
func scriptError(err error, origin manifest.Origin) error {
	refused, ok := errors.AsType[*simulation.ScriptError](err)
	if !ok {
		return err
	}
	errs := make([]error, len(refused.Errors))
	for i, e := range refused.Errors {
		errs[i] = origin.Error(e.Field, e.ErrorBody())
	}
	return errors.Join(errs...)
}

func (s *simulating) write(cmd *cobra.Command, r *simulation.Result) error {
	if s.svg != "" {
		var picture bytes.Buffer
		if err := timeline.WriteSVG(&picture, r); err != nil {
			return err
		}
		if err := os.WriteFile(s.svg, picture.Bytes(), 0o644); err != nil { //nolint:gosec // a picture is for everybody
			return err
		}
	}
	out := cmd.OutOrStdout()
	if s.output.name == "json" || s.output.name == "yaml" {
		return writeObject(out, s.output.name, simulationResult{
			APIVersion: apiVersion, Kind: "SimulationResult", Job: reference{r.Namespace, r.Name}, Seed: s.seed,
			Outcome: r.Outcome, Reason: r.Reason, Message: r.Message, Seconds: r.Seconds,
			Summary: r.Summary, Status: r.Status, Events: r.Events,
		})
	}
	timeline.Write(out, r.Events, s.output.name == "wide")
	_, err := out.Write([]byte("\n"))
	timeline.WriteSummary(out, r)
	return err
}
