// Command validation submits generated Jobs to the API server's own validation and
// to the Rego bundle of package policies, until their findings differ.
//
// It exits with 1 when they differ, after printing the smallest submission it found
// in YAML, or when a constraint was broken less often than asked for with -least,
// and with 2 when it could not run to the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"

	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/internal/progress"
	"github.com/podverdict/podverdict/conformance/upstream/release"
)

// gcPercent lets garbage grow: the live heap is tiny and both sides allocate for
// every Job.
const gcPercent = 800

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(progress.Run(validation))
}

type options struct {
	run     upstream.Validation
	release string
	least   int64
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("validation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Int64Var(&o.run.Count, "n", 1_000_000, "number of submissions")
	flags.Uint64Var(&o.run.Seed, "seed", 1, "seed of the submissions")
	flags.BoolVar(&o.run.Status, "status", false, "submit writes to the status of Jobs")
	flags.StringVar(&o.release, "release", "", "program that answers for the API server (see cmd/release); without it the release that is linked in does")
	flags.IntVar(&o.run.Workers, "workers", goruntime.GOMAXPROCS(0), "number of workers; results do not depend on it")
	flags.Int64Var(&o.least, "least", 0, "fail when a constraint is broken by fewer submissions")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.run.Count < 1 || o.run.Workers < 1 {
		fmt.Fprintln(stderr, "validation: -n and -workers must be positive, and there are no arguments")
		return o, flag.ErrHelp
	}
	return o, nil
}

// validation runs the command and returns its exit code.
func validation(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if o.run.Process, err = release.Start(ctx, o.release); err != nil {
		return progress.Report("validation", err, stdout, stderr)
	}
	defer o.run.Process.Close()
	p := progress.New(stderr, o.run.Count, "submissions")
	o.run.Progress = func(f upstream.Findings) { p.Show(f.Submissions) }
	found, err := o.run.Run(ctx)
	p.End()
	writeSummary(stdout, o.run, p.Elapsed(), found)
	if code := progress.Report("validation", err, stdout, stderr); code != 0 {
		return code
	}
	return reportRare(found, o.least, stderr)
}

// reportRare fails when a constraint was not put to the test often enough.
func reportRare(f upstream.Findings, least int64, stderr io.Writer) int {
	code := 0
	for _, id := range sortedConstraints(f) {
		if n := f.Constraints[id]; n < least {
			fmt.Fprintf(stderr, "validation: %s was broken by %d submissions, want %d\n", id, n, least)
			code = 1
		}
	}
	return code
}
