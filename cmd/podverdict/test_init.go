//go:build !js || constraints

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suite"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/wholefile"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/terminal"
)

type testInitOptions struct {
	filenames  []string
	output     string
	kubernetes string
	force      bool
}

func newTestInit() *cobra.Command {
	var o testInitOptions
	cmd := &cobra.Command{
		Use:   "init -f POLICY [-f JOB] [-f PODS]",
		Short: "Write a suite for policies that have none",
		Long: `Write a suite of tests for PodFailurePolicies, or for a Job's own
podFailurePolicy. For each rule it has a case in which the rule decides, one in
which its budget is used up, and cases in which it does not match.

The Pods are those given, the built-in scenarios, and variations of these with
the numbers and words that the rules name. Each case expects the verdict as it
is now: read it before you keep it. Rules that decide on none of the Pods are
listed at the end.

The suite is written beside the first file, unless -o says otherwise.`,
		Example: `  podverdict test init -f policy.yaml -f job.yaml
  podverdict test init -f policy.yaml -o tests/gpu_test.yaml`,
		Args: fileArguments(&o.filenames),
		RunE: verb(&o, testInit),
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.filenames, "filename", "f", nil, "file with policies, a Job or Pods; may be repeated")
	flags.StringVarP(&o.output, "output", "o", "", "file or directory to write to, or - for standard output")
	flags.StringVar(&o.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for")
	flags.BoolVar(&o.force, "force", false, "replace a suite that is there")
	return cmd
}

// testInit reads policies, a Job and Pods, drafts a suite for them, and writes it.
func testInit(ctx context.Context, c *console, o *testInitOptions, _ []string) error {
	if len(o.filenames) == 0 {
		return usagef("no policies: give their files with -f")
	}
	for _, name := range o.filenames {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return usagef("-f %s: is not a file", name)
		}
	}
	target := o.target()
	if err := o.checkTarget(target); err != nil {
		return err
	}
	loader := suite.Loader{Kubernetes: o.kubernetes, Anywhere: true} // what is read is given
	draft, err := loader.DraftOf(ctx, target, o.filenames)
	if err != nil {
		return err
	}
	out := c.stdout
	if o.output == "-" {
		out = c.stderr // the suite is the output
		_, err = c.stdout.Write(draft.Text)
		err = errStdout(err)
	} else if err = o.checkTarget(target); err == nil { // nobody has made it since
		err = wholefile.Write(target, draft.Text)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d cases, coverage %d%%\n", terminal.Line(target), draft.Cases, draft.Coverage.Percent())
	for _, missing := range draft.Coverage.Missing() {
		fmt.Fprintf(out, "  %s\n", terminal.Line(missing))
	}
	return nil
}

// checkTarget refuses to replace a suite without --force.
func (o *testInitOptions) checkTarget(target string) error {
	if _, err := os.Lstat(target); err == nil && !o.force && o.output != "-" {
		return fmt.Errorf("%s: there is a suite already; --force replaces it", target)
	}
	return nil
}

func (o *testInitOptions) target() string {
	first := o.filenames[0]
	name := strings.TrimSuffix(filepath.Base(first), filepath.Ext(first)) + "_test.yaml"
	switch o.output {
	case "":
		return filepath.Join(filepath.Dir(first), name)
	case "-":
		return name // what it names is relative to the current directory
	}
	if info, err := os.Stat(o.output); err == nil && info.IsDir() || strings.HasSuffix(o.output, string(filepath.Separator)) {
		return filepath.Join(o.output, name)
	}
	return o.output
}
