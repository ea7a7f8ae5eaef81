// Command upstream compares podverdict with Kubernetes' own code.
//
//	upstream differential   ask four engines the same questions, until one answers differently
//	upstream validation     submit Jobs to the API server's validation and to our constraints, until their findings differ
//	upstream integration    run Kubernetes' integration tests of the Job controller against ours
//
// The exit code is 1 if a comparison fails, after printing the smallest case in YAML if there is one, and 2 if it could
// not be completed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// verbs are the comparisons. Each returns its exit code.
var verbs = map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int{
	"differential": differential,
	"validation":   validation,
	"integration":  integration,
}

// gcPercent makes garbage collection rare: the live heap is tiny, and both sides allocate for every case.
const gcPercent = 1000

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(compare(os.Args[1:], os.Stdout, os.Stderr))
}

// compare runs the verb named by the first argument, and returns the exit code.
func compare(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || verbs[args[0]] == nil {
		fmt.Fprintln(stderr, "upstream: missing or unknown verb: want differential, validation or integration")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return verbs[args[0]](ctx, args[1:], stdout, stderr)
}

// parse parses the flags of a verb, which takes no arguments. valid reports whether their values are valid.
func parse(verb string, args []string, stderr io.Writer, define func(*flag.FlagSet), valid func() bool) error {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	define(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || !valid() {
		fmt.Fprintf(stderr, "%s: unexpected arguments, or a number that is not positive\n", verb)
		return flag.ErrHelp
	}
	return nil
}

// A disagreement is the error of a run that has found a case on which engines disagree.
type disagreement interface {
	error
	// YAML returns the case.
	YAML() (string, error)
}

// report prints the result of a verb, and returns its exit code: 1 for a disagreement, 2 if the run was not completed.
func report(verb string, err error, stdout, stderr io.Writer) int {
	var found disagreement
	switch {
	case err == nil:
		fmt.Fprintln(stdout, "0 disagreements")
		return 0
	case errors.As(err, &found):
		fmt.Fprintf(stderr, "%s: %v\n", verb, err)
		text, err := found.YAML()
		if err != nil {
			fmt.Fprintf(stderr, "%s: cannot write it in YAML: %v\n", verb, err)
			return 1
		}
		fmt.Fprintf(stdout, "\nthe smallest one found:\n\n%s", text)
		return 1
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted; 0 disagreements so far\n", verb)
		return 2
	default:
		fmt.Fprintf(stderr, "%s: %v\n", verb, err)
		return 2
	}
}
