package progress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Run runs a command until it ends or is interrupted, and returns its exit code.
func Run(command func(ctx context.Context, args []string, stdout, stderr io.Writer) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return command(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// Disagreement is the error of a run that has found a case about which engines disagree.
type Disagreement interface {
	error
	// YAML returns the case.
	YAML() (string, error)
}

// Report says how the run of a command ended, and returns its exit code: 1 for a Disagreement, 2 if it did not come to the end.
func Report(command string, err error, stdout, stderr io.Writer) int {
	var found Disagreement
	switch {
	case err == nil:
		fmt.Fprintln(stdout, "0 disagreements")
		return 0
	case errors.As(err, &found):
		fmt.Fprintf(stderr, "%s: %v\n", command, err)
		text, err := found.YAML()
		if err != nil {
			fmt.Fprintf(stderr, "%s: cannot write it in YAML: %v\n", command, err)
			return 1
		}
		fmt.Fprintf(stdout, "\nthe smallest one found:\n\n%s", text)
		return 1
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted; 0 disagreements so far\n", command)
		return 2
	default:
		fmt.Fprintf(stderr, "%s: %v\n", command, err)
		return 2
	}
}
