package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suite"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/terminal"
)

type suiteDraft struct {
	filenames  []string
	output     string
	kubernetes string
	force      bool
}

func newTestInit() *cobra.Command {
	var d suiteDraft
	cmd := &cobra.Command{
		Use:   "init -f POLICY [-f JOB] [-f PODS]",
		Short: "Write a suite for policies that have none",
		Long: `Write a suite of tests for PodFailurePolicies, or for a Job's own podFailurePolicy: for every rule a case in which it
decides, one in which its budget is used up, and cases in which rules do not match. Pods are those given, the scenarios that are
built in, and variations of them with the numbers and words that the rules name, at the attempts that they name. What a case
expects is what the verdict is: read it before you keep it. Rules that decide on none of the Pods are listed at the end.

The suite passes as it is written, and stands beside the first file unless -o says otherwise.`,
		Example: `  podverdict test init -f policy.yaml -f job.yaml
  podverdict test init -f policy.yaml -o tests/gpu_test.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&d.filenames, "filename", "f", nil, "file with policies, a Job or Pods; may be repeated")
	flags.StringVarP(&d.output, "output", "o", "", "file or directory to write to, or - for standard output")
	flags.StringVar(&d.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for")
	flags.BoolVar(&d.force, "force", false, "replace a suite that is there")
	return cmd
}

func (d *suiteDraft) run(cmd *cobra.Command) error {
	if len(d.filenames) == 0 {
		return errUsage(cmd, errors.New("no policies: give their files with -f"))
	}
	for _, name := range d.filenames {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return errUsage(cmd, fmt.Errorf("-f %s: is not a file", name))
		}
	}
	target := d.target()
	if _, err := os.Stat(target); err == nil && !d.force && d.output != "-" {
		return errSuiteThere(target)
	}
	loader := suite.Loader{Kubernetes: d.kubernetes, Anywhere: true} // what is read is given
	draft, err := loader.DraftOf(cmd.Context(), target, d.filenames)
	if err != nil {
		return err
	}
	if err := d.write(cmd, &loader, target, draft.Text); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if d.output == "-" {
		out = cmd.ErrOrStderr() // the suite is the output
	}
	fmt.Fprintf(out, "%s: %d cases, coverage %d%%\n", terminal.Line(target), draft.Cases, draft.Coverage.Percent())
	for _, missing := range draft.Coverage.Missing() {
		fmt.Fprintf(out, "  %s\n", terminal.Line(missing))
	}
	if draft.Outside != "" {
		paragraph(cmd.ErrOrStderr(), "note: the suite names "+draft.Outside+": test it with a directory that holds both, as in podverdict test .")
	}
	return nil
}

// target is the file to write.
func (d *suiteDraft) target() string {
	first := d.filenames[0]
	name := strings.TrimSuffix(filepath.Base(first), filepath.Ext(first)) + "_test.yaml"
	switch d.output {
	case "":
		return filepath.Join(filepath.Dir(first), name)
	case "-":
		return name // what it names is relative to the current directory
	}
	if info, err := os.Stat(d.output); err == nil && info.IsDir() || strings.HasSuffix(d.output, string(filepath.Separator)) {
		return filepath.Join(d.output, name)
	}
	return d.output
}

// write puts the suite in its place, or on standard output, once it has passed: all at once or not at all.
func (d *suiteDraft) write(cmd *cobra.Command, loader *suite.Loader, target string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(target), ".podverdict-*_test.yaml")
	if err != nil {
		return errUnwritable(target, err)
	}
	defer func() {
		if removed := os.Remove(file.Name()); err == nil && !errors.Is(removed, fs.ErrNotExist) {
			err = removed
		}
	}()
	_, err = file.Write(text)
	if err := errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	written, err := loader.Read(cmd.Context(), file.Name())
	if err != nil {
		return errDraft(err)
	}
	if result := written.Run(cmd.Context(), suite.Options{}); !result.OK() {
		return errDraft(errors.Join(result.Err, errors.New("it does not pass")))
	}
	if d.output == "-" {
		_, err := cmd.OutOrStdout().Write(text)
		return stdoutError(err)
	}
	if d.force {
		return os.Rename(file.Name(), target)
	}
	if err := os.Link(file.Name(), target); errors.Is(err, fs.ErrExist) { // unlike Rename, it replaces nothing
		return errSuiteThere(target)
	} else if err != nil {
		return err
	}
	return nil
}
