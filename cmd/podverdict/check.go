//go:build !js || constraints

package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/runtime/rego"
)

// checkOptions are the flags of check.
type checkOptions struct {
	files      manifest.Options
	settings   string // a file
	kubernetes string
	fix        string // "", diff or write
	diff       bool
	reporting
}

func newCheck(live io.Writer) *cobra.Command {
	o := checkOptions{reporting: reporting{live: live}}
	cmd := &cobra.Command{
		Use:   "check [PATH...]",
		Short: "Check manifests: constraints, guardrails, and rules that mislead",
		Long: `Check the Jobs, CronJobs and custom policies in files, as a gate before they
reach a cluster. One report has

  constraints   what the API server would refuse or warn of
  guardrails    what is legal and unwise, as platform teams see it
  analysis      rules that never match, or do something else than they seem to

podverdict rules lists all rules, and podverdict rules ID explains one of them.

A PATH is a file, a directory, which is read with all below it, a URL, or - for
standard input; without one, the current directory is checked. A comment says
that a finding is meant to be, and why:

  # podverdict:ignore ttl-out-of-bounds the pipeline deletes these Jobs

It is for the value that it stands behind or before, with all below it; at the
head of a document, for the document. The annotation ignore.podverdict.io/ID:
REASON does the same for an object.

Settings of a repository are in .podverdict.yaml, in the current directory or
above it.

--fix repairs in the files what needs no thought: exit codes that are not in
order or twice there, rules for disruptions after those on exit codes, and
numbers that guardrails ask for. Comments and layout stay, and what is left is
reported. --diff shows the same repairs and changes nothing. Every Pod of
podverdict test scenarios is judged before and after each repair.`,
		Example: `  podverdict check manifests/ --fail-on warning
  cat job.yaml | podverdict check -
  podverdict check job.yaml --skip ttl-out-of-bounds,deadline-out-of-bounds
  podverdict check manifests/ -o sarif > podverdict.sarif
  podverdict check manifests/ --diff
  podverdict check manifests/ --fix`,
		RunE: verb(&o, check),
	}
	flags := cmd.Flags()
	addFileFlags(flags, &o.files)
	flags.StringVar(&o.settings, "settings", "", "file with settings, in place of "+manifest.SettingsFile)
	addKubernetesFlag(flags, &o.kubernetes)
	flags.StringVar(&o.fix, "fix", "", "repair in the files what needs no thought, and report what is left (write), or show how (diff)")
	flags.Lookup("fix").NoOptDefVal = fixWrite
	flags.BoolVar(&o.diff, "diff", false, "show the repairs that --fix would make, and change nothing")
	addReporting(cmd, &o.reporting, "error")
	return cmd
}

// Values of --fix.
const (
	fixDiff  = "diff"
	fixWrite = "write"
)

// check reads files, asks all rules about what is in them, and prints one report.
func check(ctx context.Context, c *console, o *checkOptions, args []string) error {
	if o.fix != "" && o.fix != fixDiff && o.fix != fixWrite {
		return usageError{errChoice("fix", o.fix, fixDiff, fixWrite)}
	}
	if o.diff {
		o.fix = fixDiff
	}
	if o.fix != "" && slices.Contains(o.paths(args).Filenames, "-") {
		return usagef("--fix and --diff are for files, not for standard input")
	}
	settings, err := o.readSettings(ctx, c)
	if err != nil {
		return err
	}
	choice, err := o.choice(settings)
	if err != nil {
		return err
	}
	validator, err := settingsValidator(ctx, settings)
	if err != nil {
		return err
	}
	asked := inspect.Options{Validator: validator, Constraints: true, Analysis: true, Kubernetes: o.kubernetes}
	found, err := o.inspect(ctx, c, args, asked)
	if err != nil {
		return err
	}
	if o.fix == "" {
		return o.print(c, found, choice)
	}
	fixed, err := o.repair(ctx, c, found, asked, choice, settings)
	if err != nil {
		return err
	}
	if o.fix == fixDiff {
		err := printRepairs(c, fixed)
		return cmp.Or(o.printUnread(c, found, choice), err)
	}
	if err := writeRepairs(c, fixed); err != nil {
		return err
	}
	if found, err = o.inspect(ctx, c, args, asked); err != nil {
		return err
	}
	return o.print(c, found, choice)
}

// inspect reads files and returns what is wrong with them.
func (o *checkOptions) inspect(ctx context.Context, c *console, args []string, asked inspect.Options) (findings, error) {
	set, unread, err := readInspected(ctx, c, o.paths(args))
	if err != nil {
		return findings{}, err
	}
	if o.files.Strict && len(set.Jobs)+len(set.Policies)+len(set.Bindings)+len(unread) == 0 {
		unread = inspect.Unreadable(errNoPolicies)
	}
	shown := newProgress(c.stderr, "Jobs checked", len(set.Jobs))
	defer shown.end()
	asked.Step = shown.step
	subjects, err := inspect.Inspect(ctx, set, asked)
	all := []catalogue.Group{catalogue.Constraints, catalogue.Guardrails, catalogue.Analysis, catalogue.Input}
	return findings{tool: "check", groups: all, subjects: subjects, set: set, unread: unread}, err
}

// paths returns what to read. Directories among the arguments are read with all below them.
func (o *checkOptions) paths(args []string) manifest.Options {
	files := o.files
	if len(args)+len(files.Filenames) == 0 {
		args = []string{"."}
	}
	files.Filenames = append(files.Filenames, args...)
	files.Recursive = files.Recursive || len(args) > 0
	return files
}

// readSettings reads the settings of the repository, if it has some. Flags that are given override them.
func (o *checkOptions) readSettings(ctx context.Context, c *console) (*inspect.Settings, error) {
	file := o.settings
	if file == "" {
		var err error
		if file, err = inspect.FindSettings("."); file == "" {
			return &inspect.Settings{}, err
		}
	}
	s, err := inspect.ReadSettings(ctx, file)
	if err != nil {
		return nil, err
	}
	if !c.given("fail-on") {
		o.failOn = cmp.Or(s.FailOn, o.failOn)
	}
	if !c.given("strict") {
		o.files.Strict = s.Strict
	}
	if !c.given("kubernetes") {
		o.kubernetes = cmp.Or(s.Kubernetes, compiler.DefaultVersion)
	}
	return s, nil
}

// choice joins what flags and settings choose. --only replaces the list of the settings, and --skip adds to it.
func (o *checkOptions) choice(settings *inspect.Settings) (inspect.Choice, error) {
	choice, err := o.reporting.choice()
	if err != nil {
		return choice, err
	}
	set, err := settings.Choice()
	if err != nil {
		return choice, err
	}
	if len(choice.Only) == 0 {
		choice.Only = set.Only
	}
	choice.Skip = append(choice.Skip, set.Skip...)
	choice.Severities, choice.All = set.Severities, true
	return choice, nil
}

// settingsValidator returns how to compile the constraints and guardrails. The settings of guardrails are looked at here, since
// a mistake in them is no finding about a Job.
func settingsValidator(ctx context.Context, settings *inspect.Settings) (func() (*rego.Validator, error), error) {
	compiled := lazily(ctx, rego.Options{Guardrails: true, Warnings: true, Data: settings.Data()})
	if settings.Data() == nil {
		return compiled, nil
	}
	_, err := compiled()
	var errs []error
	for _, err := range manifest.EachError(err) {
		if wrong, ok := errors.AsType[*rego.DataError](err); ok {
			err = settings.Error(wrong)
		}
		errs = append(errs, err)
	}
	return compiled, errors.Join(errs...)
}
