// Command differential asks four engines the same questions until one answers
// differently: the specialised programs, CEL's ordinary interpreter, the
// definition in Go, and the Job controller's own matcher.
//
// It exits with 1 when engines disagree, after printing the smallest pair it found
// in YAML, and with 2 when it could not run to the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/internal/progress"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// gcPercent lets garbage grow: the live heap is tiny and upstream's matcher
// allocates for every pair.
const gcPercent = 1000

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(progress.Run(differential))
}

type options struct {
	count      int64
	seed       uint64
	scope      bool
	generic    uint64
	kubernetes string
	release    string
	workers    int
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("differential", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Int64Var(&o.count, "n", 1_000_000, "number of generated pairs")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated pairs")
	flags.BoolVar(&o.scope, "scope", false, "walk the whole small scope instead of generated pairs")
	flags.Uint64Var(&o.generic, "generic", 100, "ask CEL's ordinary interpreter about one policy in this many (0: none)")
	flags.StringVar(&o.kubernetes, "kubernetes", compiler.DefaultVersion, "Kubernetes minor to judge by")
	flags.StringVar(&o.release, "release", "", "program that answers for upstream, which is judged by its minor (see cmd/release); without it the release that is linked in does")
	flags.IntVar(&o.workers, "workers", goruntime.GOMAXPROCS(0), "number of workers; results do not depend on it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.count < 1 || o.workers < 1 {
		fmt.Fprintln(stderr, "differential: -n and -workers must be positive, and there are no arguments")
		return o, flag.ErrHelp
	}
	return o, nil
}

// differential runs the command and returns its exit code.
func differential(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	var space upstream.Space = upstream.Generated{Seed: o.seed, Count: o.count}
	generic, name := upstream.Sampled(o.generic), fmt.Sprintf("seed %d", o.seed)
	if o.scope {
		small := generators.NewSmallScope()
		space, name = upstream.Exhaustive{SmallScope: small}, "small scope"
		generic = wholeRequirementSpace(int64(small.SingleRulePolicies()), generic)
	}
	process, err := release.Start(ctx, o.release)
	if err != nil {
		return progress.Report("differential", err, stdout, stderr)
	}
	defer process.Close()
	if process != nil {
		o.kubernetes = process.Kubernetes
	}
	p := progress.New(stderr, space.Pairs(), "pairs")
	d := upstream.Differential{
		Kubernetes: o.kubernetes, Process: process, Generic: generic, Workers: o.workers, Progress: func(t upstream.Tally) { p.Show(t.Pairs) },
	}
	tally, err := d.Run(ctx, space)
	p.End()
	writeSummary(stdout, fmt.Sprintf("%s, Kubernetes %s", name, o.kubernetes), space.Pairs(), p.Elapsed(), tally)
	return progress.Report("differential", err, stdout, stderr)
}

// wholeRequirementSpace adds the policies of at most one rule to those that are
// sampled: they have every requirement there is.
func wholeRequirementSpace(single int64, sampled func(int64) bool) func(int64) bool {
	return func(policy int64) bool { return policy < single || sampled(policy) }
}
