package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

const (
	exitFine     = 0
	exitFindings = 1
	exitError    = 2
)

// errFindings ends a verb that has found something, or whose expectation failed. The result says what.
var errFindings = errors.New("findings")

// errUnread ends a verb whose report names input that could not be read. The report is written all the same.
var errUnread = errors.New("some of the input could not be read: the report says what and why")

// unreadError lists documents that could not be read. The verb's result covers the others, and is written all the same.
type unreadError struct{ error }

// newUnreadError returns the error of documents that could not be read.
func newUnreadError(err error) error { return unreadError{err} }

func (unreadError) Is(target error) bool { return target == errUnread }

func (e unreadError) Unwrap() []error { return manifest.EachError(e.error) }

// beside joins the errors of omitted documents with the error that ended the verb. It drops errors which say only that no input is
// left.
func beside(unread, err error) error {
	if unread == nil {
		return err
	}
	all := []error{unread}
	for _, err := range manifest.EachError(err) {
		if !errors.Is(err, errNoJob) && !errors.Is(err, errNoPolicies) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// errNoJob ends a verb that was given no Job.
var errNoJob = errors.New("no Job in the input")

// errOnlyPods ends a verb that was given Pods without their Jobs.
var errOnlyPods = fmt.Errorf("%w, only Pods: give it the Jobs too, as kubectl get jobs,pods -o yaml prints them", errNoJob)

// errNoPolicies ends a verb that was given neither Jobs nor policies.
var errNoPolicies = errors.New("no Job and no PodFailurePolicy in the input")

// usageError is a mistake in how a verb was called. The message points to the help of the verb.
type usageError struct{ error }

// newUsageError returns an error that points to the help of the verb.
func newUsageError(err error) error { return usageError{err} }

// usagef returns a formatted error that points to the help of the verb.
func usagef(format string, args ...any) error { return newUsageError(fmt.Errorf(format, args...)) }

func errUsage(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())
}

func errFlag(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }

func errChoice(flag, value string, choices ...string) error {
	return fmt.Errorf("--%s %s: not one of %s", flag, value, strings.Join(choices, ", "))
}

// checkNames refuses names in a flag that no object can have.
func checkNames(flag string, check func(string) []string, names ...string) error {
	for _, name := range names {
		if wrong := check(name); len(wrong) > 0 {
			return errFlag(flag, fmt.Errorf("%q: %s", name, wrong[0]))
		}
	}
	return nil
}

func errStdinTwice(flag string) error {
	return usagef("-f - and %s -: standard input can be read only once", flag)
}

func errIn(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// errStdout says that the result could not be written; nil stays nil.
func errStdout(err error) error {
	if err == nil {
		return nil
	}
	return errIn("standard output", err)
}

// maxReported is how many errors are written out: a file of ten thousand bad Pods has one problem.
const maxReported = 20

// complain writes the errors, one paragraph each, and returns the exit code.
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
