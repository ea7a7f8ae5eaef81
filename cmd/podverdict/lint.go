package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	source     source
	kubernetes string
	output     format
}

func newLint() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint {TYPE/NAME... | TYPE [NAME...] | -f JOB|POLICY}",
		Short: "Find rules that cannot match, or do not do what they seem to",
		Long: `Find rules of spec.podFailurePolicy that cannot match, or are likely to do something else than meant: rules that an
earlier one leaves nothing, exit codes of sidecars, failures that are ignored for ever. Exits with 1 when there are
findings. A podFailurePolicy that the API server would refuse is an error.

In files, PodFailurePolicies and PodFailurePolicyBindings (podverdict.io) are looked at, too, with or without Jobs: whether
their expressions compile, and do what their authors mean; and what they do to the Jobs of the input that they are bound
to. As in eval, policies that no binding of the input names are bound to all Jobs of the input.

Jobs and CronJobs come from files given with -f, or from a cluster: job/NAME, cronjob/NAME, or jobs, cronjobs or
jobs,cronjobs for all of the namespace. -l selects among these, and with -A or -l alone Jobs are meant.
` + connectionHelp,
		Example: `  podverdict lint job/demo
  podverdict lint jobs,cronjobs -A
  podverdict lint -f job.yaml
  podverdict lint -f policy.yaml -f binding.yaml
  podverdict lint -R -f manifests/ -o sarif > lint.sarif
  podverdict lint -f job.yaml -o github`,
		RunE: verb(&o, lint),
	}
	o.source.addFlags(cmd.Flags(), cluster.Job, cluster.CronJob)
	addKubernetesFlag(cmd.Flags(), &o.kubernetes)
	addFormat(cmd, &o.output, report.Formats()...)
	return cmd
}

// lintChecks describes the checks for reports that list them.
func lintChecks() map[string]string {
	return map[string]string{
		compiler.CheckUnreachable:     "An earlier rule takes every Pod that this rule could match.",
		compiler.CheckShadowed:        "An earlier rule takes some of the Pods that this rule asks for.",
		compiler.CheckDisruptionOrder: "A DisruptionTarget rule stands after an exit-code rule that disrupted Pods meet already.",
		compiler.CheckSidecar:         "A NotIn rule matches the exit codes of sidecars that were told to stop.",
		compiler.CheckUnboundedIgnore: "Pods that fail in this way are replaced for ever.",
		compiler.CheckFailIndexLimit:  "FailIndex needs backoffLimitPerIndex.",

		checkInvalid:          "The API server would refuse the custom policy or its binding.",
		checkNoPolicy:         "The policy that is bound is not in the input.",
		checkIndexBudget:      "A budget per index is that of the Job where there are no indexes.",
		checkPendingIgnored:   "Rules on Pending have no effect unless a binding has pendingPods: Delete.",
		custom.CheckLimit:     "The policy has more, or longer, expressions than is allowed.",
		custom.CheckSyntax:    "The expression is not CEL.",
		custom.CheckType:      "The expression uses what is not there, or has another type than is wanted.",
		custom.CheckVariable:  "The expression uses a variable that there is not, or not yet.",
		custom.CheckCycle:     "Variables use one another in a circle.",
		custom.CheckCost:      "Evaluating the expression may cost more than is allowed.",
		custom.CheckPlan:      "The expression cannot be planned.",
		custom.CheckConstruct: "The expression makes an object of a type that is not known.",
		custom.CheckGuard:     "A presence test itself fails when what it looks into is absent.",
		custom.CheckAbsent:    "The expression fails when a field is absent.",
		custom.CheckNever:     "The rule can never match.",
		custom.CheckDeadPart:  "A part of the expression is never true.",
		custom.CheckAlways:    "The rule leaves nothing to the rules after it.",
	}
}

// lint reads Jobs and custom policies, compiles them, looks for what they do not do as meant, and prints what it finds.
func lint(ctx context.Context, c *console, o *lintOptions, args []string) error {
	set, err := readLinted(ctx, c, o, args)
	if err != nil {
		return err
	}
	if _, err := compileJobs(o.kubernetes, set.Jobs); err != nil {
		return err
	}
	r := report.Report{Tool: "lint", Checks: lintChecks()}
	for _, job := range set.Jobs {
		s := jobSubject(job)
		for _, f := range compiler.Lint(job.Object) {
			s.Findings = append(s.Findings, ownFinding(job.Origin, f))
		}
		r.Subjects = append(r.Subjects, s)
	}
	if err := lintCustom(ctx, o.kubernetes, set, &r); err != nil {
		return err
	}
	return printReport(c, r, o.output)
}

// readLinted reads Jobs and, from files, custom policies.
func readLinted(ctx context.Context, c *console, o *lintOptions, args []string) (*manifest.Set, error) {
	if !o.source.fromFiles() {
		jobs, err := o.source.readJobs(ctx, c, args)
		return &manifest.Set{Jobs: jobs}, err
	}
	if err := o.source.parse(c, args); err != nil {
		return nil, err
	}
	return readPolicyFiles(ctx, c, o.source.files)
}
