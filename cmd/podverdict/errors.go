package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

const (
	exitFine     = 0
	exitFindings = 1
	exitError    = 2
)

// errFindings ends a verb that did its work and found something: the result says what.
var errFindings = errors.New("findings")

// errNoPolicies ends a verb that was given neither Jobs nor policies.
var errNoPolicies = errors.New("no Job and no PodFailurePolicy in the input")

func errStdinTwice(flag string) error {
	return fmt.Errorf("-f - and %s -: standard input can be read only once", flag)
}

// messageNothing says that a cluster has no such objects of what was asked for: a Job that is there may have no Pods.
func messageNothing(objects string, q cluster.Query, where string) string {
	kinds := make([]string, len(q.Targets))
	for i, target := range q.Targets {
		kinds[i] = target.String()
	}
	text := fmt.Sprintf("no %s found for %s in %s", objects, strings.Join(kinds, ", "), where)
	if q.Selector != "" {
		text += " with labels " + q.Selector
	}
	return text
}

func errIn(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

func errUsage(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())
}

func errArgument(arg string, files bool) error {
	if files {
		return fmt.Errorf("unexpected argument %q: files are given with -f", arg)
	}
	return fmt.Errorf("unexpected argument %q", arg)
}

// stdoutError is errStdout of an error; nil stays nil.
func stdoutError(err error) error {
	if err == nil {
		return nil
	}
	return errStdout(err)
}

func errStdout(err error) error { return fmt.Errorf("standard output: %w", err) }

func errEngine(name string, engines []string) error {
	return fmt.Errorf("no engine %q, there are %s", name, strings.Join(engines, ", "))
}

// maxReported is how many errors are written out: a file of ten thousand bad Pods has one problem.
const maxReported = 20

// complain writes what went wrong, one paragraph for each thing, and returns the exit code.
func complain(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, syscall.EPIPE):
		return exitError // whoever read the result has left, and knows
	}
	all := manifest.EachError(err)
	for _, err := range all[:min(len(all), maxReported)] {
		text := "error: " + err.Error()
		if placed, ok := errors.AsType[*manifest.Error](err); ok {
			if excerpt := placed.Excerpt(); excerpt != "" {
				text += "\n" + excerpt
			}
			if placed.Hint != "" {
				text += "\nhint: " + placed.Hint
			}
		}
		paragraph(stderr, text)
	}
	if more := len(all) - maxReported; more > 0 {
		fmt.Fprintf(stderr, "error: %d more errors\n", more)
	}
	return exitError
}

// paragraph writes a message. The lines after its first are indented: the names in a message are anybody's, and none of its
// lines may pass for another message.
func paragraph(stderr io.Writer, message string) {
	message = strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n  ")
	fmt.Fprintln(stderr, strings.ReplaceAll(message, "\n  \n", "\n\n"))
}

func errFlag(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }

func errChoice(flag, value string, choices ...string) error {
	return fmt.Errorf("--%s %s: not one of %s", flag, value, strings.Join(choices, ", "))
}

func errNoRuleApplies(rules []string) error {
	return fmt.Errorf("--rules %s: none of them is enabled and for the kinds of objects", cmp.Or(strings.Join(rules, ","), `""`))
}

var errNotConfirmed = errors.New("nothing was done")

var errNoConsent = errors.New("standard input is not a terminal: give --yes, or --dry-run to see what would be removed")

func errNotStopped(err error) error {
	return fmt.Errorf("the controller has not stopped, so its Pods were not touched and no right was taken away: %w", err)
}

func errObjectName(name, wrong string) error { return fmt.Errorf("%q: %s", name, wrong) }

func errUnwritable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // that of a file in between
	}
	return fmt.Errorf("%s: cannot write: %w", name, err)
}

func errSuiteThere(name string) error {
	return fmt.Errorf("%s: there is a suite already; --force replaces it", name)
}

func errDraft(err error) error { return fmt.Errorf("the suite was not written: %w", err) }
