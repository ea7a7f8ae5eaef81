package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	goruntime "runtime"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// differentialOptions are the flags of differential.
type differentialOptions struct {
	count      int64
	seed       uint64
	scope      bool
	generic    uint64
	kubernetes string
	release    string
	workers    int
}

func (o *differentialOptions) define(flags *flag.FlagSet) {
	flags.Int64Var(&o.count, "n", 1_000_000, "number of generated pairs")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated pairs")
	flags.BoolVar(&o.scope, "scope", false, "walk the whole small scope instead of generated pairs")
	flags.Uint64Var(&o.generic, "generic", 100, "ask CEL's ordinary interpreter about one policy in this many (0: none)")
	flags.StringVar(&o.kubernetes, "kubernetes", compiler.DefaultVersion, "Kubernetes minor to judge by")
	flags.StringVar(&o.release, "release", "", "program that answers for upstream, which is judged by its minor (see cmd/release); without it the release that is linked in does")
	flags.IntVar(&o.workers, "workers", goruntime.GOMAXPROCS(0), "number of workers; results do not depend on it")
}

// differential compares the answers of four engines to the same questions until one differs: the specialized programs,
// CEL's ordinary interpreter, the definition in Go, and the Job controller's own matcher.
func differential(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o differentialOptions
	if err := parse("differential", args, stderr, o.define, func() bool { return o.count > 0 && o.workers > 0 }); err != nil {
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
		return report("differential", err, stdout, stderr)
	}
	defer process.Close()
	if process != nil {
		o.kubernetes = process.Kubernetes
	}
	p := newLine(stderr, space.Pairs(), "pairs")
	d := upstream.Differential{
		Kubernetes: o.kubernetes, Process: process, Generic: generic, Workers: o.workers, Progress: func(t upstream.Tally) { p.show(t.Pairs) },
	}
	tally, err := d.Run(ctx, space)
	p.end()
	summarizeDifferential(stdout, fmt.Sprintf("%s, Kubernetes %s", name, o.kubernetes), space.Pairs(), p.elapsed(), tally)
	return report("differential", err, stdout, stderr)
}

// wholeRequirementSpace adds the policies with at most one rule to the sampled policies: they cover every requirement.
func wholeRequirementSpace(single int64, sampled func(int64) bool) func(int64) bool {
	return func(policy int64) bool { return policy < single || sampled(policy) }
}
