package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Exit codes.
const (
	ExitFine     = 0
	ExitFindings = 1
	ExitError    = 2
)

// ErrFindings ends a verb that has findings or whose expectation failed. The details are in the result.
var ErrFindings = errors.New("findings")

// ErrUnread ends a verb whose report names unreadable input. The report is still written.
var ErrUnread = errors.New("some of the input could not be read: the report says what and why")

// unreadError lists documents that could not be read. The verb's result covers the others, and is still written.
type unreadError struct{ error }

// UnreadError marks err as the error of documents that could not be read.
func UnreadError(err error) error { return unreadError{err} }

func (unreadError) Is(target error) bool { return target == ErrUnread }

func (e unreadError) Unwrap() []error { return manifest.EachError(e.error) }

// JoinUnread joins the errors of omitted documents with the error that ended the verb. It drops errors which say only that no input is
// left.
func JoinUnread(unread, err error) error {
	if unread == nil {
		return err
	}
	all := []error{unread}
	for _, err := range manifest.EachError(err) {
		if !errors.Is(err, ErrNoJob) && !errors.Is(err, ErrNoPolicies) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// ErrNoJob ends a verb whose input has no Job.
var ErrNoJob = errors.New("no Job in the input")

// ErrOnlyPods ends a verb whose input has Pods without their Jobs.
var ErrOnlyPods = fmt.Errorf("%w, only Pods: give it the Jobs too, as kubectl get jobs,pods -o yaml prints them", ErrNoJob)

// ErrNoPolicies ends a verb whose input has neither Jobs nor policies.
var ErrNoPolicies = errors.New("no Job and no PodFailurePolicy in the input")

// usageError is a mistake in the call of a verb. Its message points to the verb's help.
type usageError struct{ error }

// UsageError returns an error that points to the help of the verb.
func UsageError(err error) error { return usageError{err} }

// Usagef returns a formatted error that points to the help of the verb.
func Usagef(format string, args ...any) error { return UsageError(fmt.Errorf(format, args...)) }

// WithHelp adds the command whose help to read to an error.
func WithHelp(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())
}

// FlagError returns an error about the value of a flag.
func FlagError(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }

// ChoiceError returns an error about a value that is not one of a flag's choices.
func ChoiceError(flag, value string, choices ...string) error {
	return fmt.Errorf("--%s %s: not one of %s", flag, value, strings.Join(choices, ", "))
}

// CheckNames returns an error for the first of the names in a flag that is not a valid object name.
func CheckNames(flag string, check func(string) []string, names ...string) error {
	for _, name := range names {
		if wrong := check(name); len(wrong) > 0 {
			return FlagError(flag, fmt.Errorf("%q: %s", name, wrong[0]))
		}
	}
	return nil
}

// StdinTwiceError returns an error for a flag and -f that both name standard input.
func StdinTwiceError(flag string) error {
	return Usagef("-f - and %s -: standard input can be read only once", flag)
}

// ErrorIn prefixes an error with the name of a file or another thing.
func ErrorIn(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// StdoutError wraps an error about writing the result; nil stays nil.
func StdoutError(err error) error {
	if err == nil {
		return nil
	}
	return ErrorIn("standard output", err)
}

// maxReported limits the number of errors printed: a file of ten thousand bad Pods has one problem.
const maxReported = 20

// Complain prints the errors, one paragraph each, and returns the exit code.
func Complain(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return ExitFine
	case errors.Is(err, ErrFindings):
		return ExitFindings
	case errors.Is(err, syscall.EPIPE):
		return ExitError // the reader of the result is gone, and knows why
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
	return ExitError
}
