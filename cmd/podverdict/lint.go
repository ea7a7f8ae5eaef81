package main

import (
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/compiler"
)

type linting struct {
	input  input
	output format
}

func newLint() *cobra.Command {
	var l linting
	cmd := &cobra.Command{
		Use:   "lint -f JOB",
		Short: "Find rules that cannot match, or do not do what they seem to",
		Long: `Find rules of spec.podFailurePolicy that cannot match, or are likely to do something else than meant: rules that an
earlier one leaves nothing, exit codes of sidecars, failures that are ignored for ever. Exits with 1 when there are
findings. A policy that the API server would refuse is an error.`,
		Example: `  podverdict lint -f job.yaml
  podverdict lint -R -f manifests/ -o sarif > lint.sarif
  podverdict lint -f job.yaml -o github`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	l.input.addFlags(cmd)
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

func (l *linting) run(cmd *cobra.Command) error {
	policies, err := l.input.readPolicies(cmd)
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
	s := report.Subject{Namespace: name.Namespace, Name: name.Name, File: job.Origin.Document.File}
	for _, f := range compiler.Lint(job.Object) {
		at := job.Origin.Position(f.Field)
		s.Findings = append(s.Findings, report.Finding{
			Check: f.Check, Severity: string(f.Severity), Rule: f.Rule, Field: job.Origin.Field(f.Field),
			Message: f.Message, Hint: f.Hint, At: at, Excerpt: job.Origin.Document.Excerpt(at),
		})
	}
	return s
}
