package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	goruntime "runtime"

	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/release"
)

// validationOptions are the flags of validation.
type validationOptions struct {
	run     upstream.Validation
	release string
	least   int64
}

func (o *validationOptions) define(flags *flag.FlagSet) {
	flags.Int64Var(&o.run.Count, "n", 1_000_000, "number of submissions")
	flags.Uint64Var(&o.run.Seed, "seed", 1, "seed of the submissions")
	flags.BoolVar(&o.run.Status, "status", false, "submit writes to the status of Jobs")
	flags.StringVar(&o.release, "release", "", "program that answers for the API server (see cmd/release); without it the release that is linked in does")
	flags.IntVar(&o.run.Workers, "workers", goruntime.GOMAXPROCS(0), "number of workers; results do not depend on it")
	flags.Int64Var(&o.least, "least", 0, "fail when a constraint is broken by fewer submissions")
}

// validation submits generated Jobs to the API server's own validation and to the Rego bundle of package policies, until
// their findings differ. It also fails if a constraint was violated less often than -least.
func validation(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o validationOptions
	err := parse("validation", args, stderr, o.define, func() bool { return o.run.Count > 0 && o.run.Workers > 0 })
	if err != nil {
		return 2
	}
	if o.run.Process, err = release.Start(ctx, o.release); err != nil {
		return report("validation", err, stdout, stderr)
	}
	defer o.run.Process.Close()
	p := newLine(stderr, o.run.Count, "submissions")
	o.run.Progress = func(f upstream.Findings) { p.show(f.Submissions) }
	found, err := o.run.Run(ctx)
	p.end()
	summarizeValidation(stdout, o.run, p.elapsed(), found)
	if code := report("validation", err, stdout, stderr); code != 0 {
		return code
	}
	return reportRare(found, o.least, stderr)
}

// reportRare fails if a constraint was violated too rarely.
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
