package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // rules name time zones, and the image has no time zone files

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	defer klog.Flush()
	begun := false
	cmd := newCommand(func(ctx context.Context, f *flags) error { //nolint:contextcheck // cobra passes it on
		p, err := f.prepare()
		if err != nil {
			return err
		}
		begun = true
		return p.run(ctx)
	})
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitFine
	case begun:
		klog.FromContext(ctx).Error(err, "The work cannot go on")
		return exitFailed
	default:
		fmt.Fprintf(stderr, "error: %v\n", err)
		return exitUsage
	}
}

func newCommand(run func(context.Context, *flags) error) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "podverdict-controller",
		Short: "Runs Jobs by compiled policies",
		Long: `Runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and tells the verdicts on the failed pods of all
other Jobs as events and metrics.

Exit codes:
  0  stopped by SIGTERM or SIGINT
  1  the work cannot go on, as when the lease is lost
  2  it could not begin: a flag, the kubeconfig, an address in use`,
		Version:           version(),
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return errUsage(err)
			}
			return run(cmd.Context(), &f)
		},
	}
	cmd.Flags().SortFlags = false
	f.add(cmd.Flags())
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return errUsage(err) })
	return cmd
}
