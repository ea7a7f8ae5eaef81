package suites

import (
	"bytes"
	"context"
	"errors"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
)

type options struct {
	kubernetes string
	pattern    string
	verbose    bool
	coverage   bool
	threshold  int
	restrictor string
	output     cli.Format
}

// Values of --load-restrictor, named as in kustomize.
const (
	restrictRootOnly = "LoadRestrictionsRootOnly"
	restrictNothing  = "LoadRestrictionsNone"
)

// New returns the test command with its subcommands.
func New(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [DIR|FILE...]",
		Short: "Test policies: Pods, and the verdicts that they must get",
		Long: `Run suites of tests for policies: Pods, and the verdict that each must get from
PodFailurePolicies, from a Job's own podFailurePolicy, or from both. Suites are
the files *_test.yaml, *_test.yml and *_test.json in and below the directories
given, or the current one. A file given by its name may have any name.

  apiVersion: podverdict.io/v1alpha1
  kind: Suite
  metadata: {name: gpu}
  policies: [gpu.yaml]
  job: job.yaml
  cases:
  - name: the third attempt fails the Job
    from: oom-killed
    attempt: 3
    expect: {action: FailJob, rule: out-of-memory}

A case builds its Pod on a scenario: "podverdict test scenarios" lists them.
docs/testing-policies.md has every field.

Files that a suite names must be in the directory given or below it; neither ..
nor a symbolic link leads out of it, unless --load-restrictor says so.

Coverage is the share of rules that decided in some case, and of those that did
not match in some case. Exits with 1 when a case fails, a suite has no cases, or
the coverage is too low.`,
		Example: `  podverdict test
  podverdict test policies/ --run gpu -v
  podverdict test --coverage --coverage-threshold 100
  podverdict test -o junit > results.xml`,
		Args: func(cmd *cobra.Command, args []string) error {
			for i, arg := range args {
				if !cli.IsFile(arg) && cli.MeantVerb(cmd, arg) != "" {
					return cli.VerbArgument(cmd, args[i:])
				}
			}
			return nil
		},
		RunE: cli.Run(p, &o, run),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for, if a suite names none")
	flags.StringVar(&o.pattern, "run", "", "run only the cases whose names, as SUITE/CASE, match this regular expression")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list the cases that pass, too")
	flags.BoolVar(&o.coverage, "coverage", false, "list the rules, and how often each matched and did not")
	flags.IntVar(&o.threshold, "coverage-threshold", 0, "percentage of coverage that every suite must have, if it asks for none")
	flags.StringVar(&o.restrictor, "load-restrictor", restrictRootOnly,
		"LoadRestrictionsRootOnly: suites may name files in the directory given and below it; LoadRestrictionsNone: any file")
	p.AddFormat(cmd, &o.output, Formats()...)
	cmd.AddCommand(newScenarios(p))
	return cmd
}

// run finds the suites, runs them one after the other, and prints the results.
func run(ctx context.Context, c *cli.Console, o *options, args []string) error {
	selected, err := o.check()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	files, missing := Find(args)
	if len(files) == 0 {
		return missing
	}
	report, err := o.runAll(ctx, c, files, selected)
	err = errors.Join(missing, err)
	if err != nil && len(report.Results) == 0 {
		return err
	}
	var out bytes.Buffer
	if err := report.Write(&out, o.output.Name); err != nil {
		return err
	}
	if _, failure := out.WriteTo(c.Live); failure != nil {
		return cli.StdoutError(failure)
	}
	if err == nil && !report.OK() {
		return cli.ErrFindings
	}
	return err
}

// check validates flag values and returns the compiled --run pattern.
func (o *options) check() (*regexp.Regexp, error) {
	selected, err := regexp.Compile(o.pattern)
	switch {
	case err != nil:
		return nil, cli.UsageError(cli.FlagError("run", err))
	case o.threshold < 0 || o.threshold > 100:
		return nil, cli.Usagef("--coverage-threshold: must be a percentage from 0 to 100")
	case o.restrictor != restrictRootOnly && o.restrictor != restrictNothing:
		return nil, cli.UsageError(cli.ChoiceError("load-restrictor", o.restrictor, restrictRootOnly, restrictNothing))
	}
	return selected, nil
}

// runAll runs all suites that can be read. The error joins the errors of the others.
func (o *options) runAll(ctx context.Context, c *cli.Console, files []Found, selected *regexp.Regexp) (Report, error) {
	report := Report{Verbose: o.verbose, Coverage: o.coverage}
	progress := cli.NewProgress(c.Stderr, "cases", 0)
	defer progress.End()
	loader := Loader{Kubernetes: o.kubernetes, Anywhere: o.restrictor == restrictNothing}
	options := Options{Step: progress.Step}
	if o.pattern != "" {
		options.Selects = selected.MatchString
	}
	var errs []error
	for _, file := range files {
		result := o.runOne(ctx, &loader, file, options)
		errs = append(errs, result.Err)
		if o.pattern == "" || len(result.Cases) > 0 || result.Err != nil {
			report.Results = append(report.Results, result)
		}
	}
	if len(report.Results) == 0 {
		return report, ErrNoneSelected
	}
	return report, errors.Join(errs...)
}

func (o *options) runOne(ctx context.Context, loader *Loader, found Found, options Options) Result {
	loader.Folder = found.Folder
	s, err := loader.Read(ctx, found.File)
	if err != nil {
		return Unread(found.File, err)
	}
	if s.Threshold == nil {
		s.Threshold = &o.threshold
	}
	return s.Run(ctx, options)
}
