package main

import (
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
)

type linting struct {
	input  source
	output format
}

func newLint() *cobra.Command {
	var l linting
	cmd := &cobra.Command{
		Use:   "lint {TYPE/NAME... | TYPE [NAME...] | -f JOB}",
		Short: "Find rules that cannot match, or do not do what they seem to",
		Long: `Find rules of spec.podFailurePolicy that cannot match, or are likely to do something else than meant: rules that an
earlier one leaves nothing, exit codes of sidecars, failures that are ignored for ever. Exits with 1 when there are
findings. A policy that the API server would refuse is an error.

Jobs and CronJobs come from files given with -f, or from a cluster: job/NAME, cronjob/NAME, or jobs, cronjobs or
jobs,cronjobs for all of the namespace. -l selects among these, and with -A or -l alone Jobs are meant.
` + connectionHelp,
		Example: `  podverdict lint job/demo
  podverdict lint jobs,cronjobs -A
  podverdict lint -f job.yaml
  podverdict lint -R -f manifests/ -o sarif > lint.sarif
  podverdict lint -f job.yaml -o github`,
		RunE: l.run,
	}
	l.input.addFlags(cmd, cluster.Job, cluster.CronJob)
	l.input.addVersionFlag(cmd)
	addFormat(cmd, &l.output, report.Formats()...)
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
	}
}

func (l *linting) run(cmd *cobra.Command, args []string) error {
	jobs, err := l.input.readJobs(cmd, args)
	if err != nil {
		return err
	}
	if len(l.input.Filenames) > 0 {
		if err := (&manifest.Set{Jobs: jobs}).CheckNames(l.input.namespace); err != nil {
			return err
		}
	}
	policies, err := l.input.compile(jobs)
	if err != nil {
		return err
	}
	r := report.Report{Tool: "lint", Version: readVersion().Version, Checks: lintChecks()}
	for _, p := range policies {
		r.Subjects = append(r.Subjects, l.subject(p.job))
	}
	if err := r.Write(cmd.OutOrStdout(), l.output.name); err != nil {
		return err
	}
	if r.Count() > 0 {
		return errFindings
	}
	return nil
}

func (l *linting) subject(job manifest.Job) report.Subject {
	name := l.input.jobReference(job)
	s := report.Subject{Namespace: name.Namespace, Name: name.Name, File: fileOf(job)}
	for _, f := range compiler.Lint(job.Object) {
		at := job.Origin.Position(f.Field)
		s.Findings = append(s.Findings, report.Finding{
			Check: f.Check, Severity: string(f.Severity), Rule: f.Rule, Field: job.Origin.Field(f.Field),
			Message: f.Message, Hint: f.Hint, At: at, Excerpt: job.Origin.Document.Excerpt(at),
		})
	}
	return s
}

// fileOf is where a Job was read; "" when that was a cluster.
func fileOf(job manifest.Job) string {
	if job.Origin.Live() {
		return ""
	}
	return job.Origin.Document.File
}
