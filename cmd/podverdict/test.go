package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suite"
	"github.com/podverdict/podverdict/compiler"
)

type suiteRun struct {
	stdout     io.Writer // what is wrong with one suite keeps the results of others from nobody
	kubernetes string
	pattern    string
	verbose    bool
	coverage   bool
	threshold  int
	restrictor string
	failFast   bool
	output     format
}

func newTest(stdout io.Writer) *cobra.Command {
	t := suiteRun{stdout: stdout}
	cmd := &cobra.Command{
		Use:   "test [DIR|FILE...]",
		Short: "Test policies: Pods, and the verdicts that they must get",
		Long: `Run suites of tests for policies: cases of Pods, each with the verdict that it must get from PodFailurePolicies, from
a Job's own podFailurePolicy, or from both. Suites are the files named *_test.yaml, *_test.yml or *_test.json in the directories
given and in all below them; without any, of the current one. A file given by its name may have any.

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

Suites name files in the directory given, or below it; of a suite given by its name, in its own directory. Neither .. nor a
symbolic link leads out of it, unless --load-restrictor says so.

A case builds its Pod on a scenario, of which the verb scenarios lists those that are built in. The verb init writes a suite for
policies that have none. docs/testing-policies.md has every field.

Coverage is the share of the rules that decided in some case, and of those that were tried and did not match in some case. Exits
with 1 when a case fails, a suite has no cases, or the coverage is less than it should be.`,
		Example: `  podverdict test
  podverdict test policies/ --run gpu -v
  podverdict test --coverage --coverage-threshold 100
  podverdict test -o junit > results.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: t.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&t.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for, if a suite names none")
	flags.StringVar(&t.pattern, "run", "", "run only the cases whose names, as SUITE/CASE, match this regular expression")
	flags.BoolVarP(&t.verbose, "verbose", "v", false, "list the cases that pass, too")
	flags.BoolVar(&t.coverage, "coverage", false, "list the rules, and how often each matched and did not")
	flags.IntVar(&t.threshold, "coverage-threshold", 0, "percentage of coverage that every suite must have, if it asks for none")
	flags.StringVar(&t.restrictor, "load-restrictor", restrictRootOnly,
		"LoadRestrictionsRootOnly: suites may name files in the directory given and below it; LoadRestrictionsNone: any file")
	flags.BoolVar(&t.failFast, "fail-fast", false, "stop at the first case that fails")
	addFormat(cmd, &t.output, suite.Formats()...)
	cmd.AddCommand(newTestInit(), newTestScenarios())
	return cmd
}

func (t *suiteRun) run(cmd *cobra.Command, args []string) error {
	selected, err := regexp.Compile(t.pattern)
	if err != nil {
		return errUsage(cmd, errFlag("run", err))
	}
	if t.threshold < 0 || t.threshold > 100 {
		return errUsage(cmd, errFlag("coverage-threshold", errors.New("must be a percentage from 0 to 100")))
	}
	if t.restrictor != restrictRootOnly && t.restrictor != restrictNothing {
		return errUsage(cmd, errChoice("load-restrictor", t.restrictor, restrictRootOnly, restrictNothing))
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	files, missing := suite.Find(args)
	if len(files) == 0 {
		return missing
	}
	report, err := t.runAll(cmd, files, selected)
	err = errors.Join(missing, err)
	if err != nil && len(report.Results) == 0 {
		return err
	}
	var out bytes.Buffer
	if err := report.Write(&out, t.output.name); err != nil {
		return err
	}
	if _, failure := out.WriteTo(t.stdout); failure != nil {
		return errStdout(failure)
	}
	if err == nil && !report.OK() {
		return errFindings
	}
	return err
}

// The values of --load-restrictor are kustomize's.
const (
	restrictRootOnly = "LoadRestrictionsRootOnly"
	restrictNothing  = "LoadRestrictionsNone"
)

// runAll runs all suites that can be read. The error joins what is wrong with the others.
func (t *suiteRun) runAll(cmd *cobra.Command, files []suite.Found, selected *regexp.Regexp) (suite.Report, error) {
	report := suite.Report{Verbose: t.verbose, Coverage: t.coverage}
	progress := newProgress(cmd.ErrOrStderr(), "cases", 0)
	defer progress.end()
	loader := suite.Loader{Kubernetes: t.kubernetes, Anywhere: t.restrictor == restrictNothing}
	options := suite.Options{FailFast: t.failFast, Step: progress.step}
	if t.pattern != "" {
		options.Selects = selected.MatchString
	}
	var errs []error
	for _, file := range files {
		result := t.runOne(cmd.Context(), &loader, file, options)
		errs = append(errs, result.Err)
		if t.pattern == "" || len(result.Cases) > 0 || result.Err != nil {
			report.Results = append(report.Results, result)
		}
		if t.failFast && !result.OK() {
			break
		}
	}
	if len(report.Results) == 0 {
		return report, suite.ErrNoneSelected
	}
	return report, errors.Join(errs...)
}

func (t *suiteRun) runOne(ctx context.Context, loader *suite.Loader, found suite.Found, o suite.Options) suite.Result {
	loader.Folder = found.Folder
	s, err := loader.Read(ctx, found.File)
	if err != nil {
		return suite.Unread(found.File, err)
	}
	if s.Threshold == nil {
		s.Threshold = &t.threshold
	}
	return s.Run(ctx, o)
}
