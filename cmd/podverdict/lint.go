//go:build !js || constraints

package main

import (
	"context"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/runtime/rego"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	source     source
	kubernetes string
	reporting
}

func newLint(live io.Writer) *cobra.Command {
	o := lintOptions{reporting: reporting{live: live}}
	cmd := &cobra.Command{
		Use:   "lint {TYPE/NAME... | TYPE [NAME...] | -f JOB|POLICY}",
		Short: "Find rules that cannot match, or do not do what they seem to",
		Long: `Find rules of spec.podFailurePolicy that cannot match, or that do something else
than they seem to: rules that come after one that matches everything, exit codes
of sidecars, failures that are ignored for ever. Exits with 1 when there are
findings. "podverdict check" does this and more.

In files, PodFailurePolicies and their bindings (podverdict.io) are checked too,
with or without Jobs: whether their expressions compile and do what they seem
to, and what they do to the Jobs of the input. A policy without a binding
applies to all of these.

In a cluster, job/NAME and cronjob/NAME are single objects, and jobs, cronjobs
or jobs,cronjobs all in the namespace. -l selects among these, and with -A or -l
alone Jobs are meant.
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
	addSourceCompletions(cmd, &o.source)
	addKubernetesFlag(cmd.Flags(), &o.kubernetes)
	addReporting(cmd, &o.reporting, "warning")
	return cmd
}

// lint reads Jobs and custom policies, looks for rules that do not do what they seem to, and prints findings.
func lint(ctx context.Context, c *console, o *lintOptions, args []string) error {
	choice, err := o.choice()
	if err != nil {
		return err
	}
	set, unread, err := readLinted(ctx, c, o, args)
	if err != nil {
		return err
	}
	subjects, err := inspect.Inspect(ctx, set, inspect.Options{Validator: lazily(ctx, rego.Options{}), Analysis: true, Kubernetes: o.kubernetes})
	if err != nil {
		return err
	}
	found := findings{tool: "lint", groups: []catalogue.Group{catalogue.Analysis, catalogue.Input}, subjects: subjects, set: set, unread: unread}
	return o.print(c, found, choice)
}

// lazily returns a function that compiles the rules of podverdict when it is first called.
func lazily(ctx context.Context, o rego.Options) func() (*rego.Validator, error) {
	return sync.OnceValues(func() (*rego.Validator, error) { return rego.New(ctx, o) })
}

// readLinted reads Jobs and, from files, custom policies.
func readLinted(ctx context.Context, c *console, o *lintOptions, args []string) (*manifest.Set, []report.Subject, error) {
	if args = o.source.takeFiles(args); !o.source.fromFiles() {
		jobs, err := o.source.readJobs(ctx, c, args)
		return &manifest.Set{Jobs: jobs}, nil, err
	}
	if err := o.source.parse(c, args); err != nil {
		return nil, nil, err
	}
	set, unread, err := readInspected(ctx, c, o.source.files)
	if err == nil && len(set.Jobs)+len(set.Policies)+len(set.Bindings)+len(unread) == 0 {
		err = errNoPolicies
	}
	return set, unread, err
}
