// Command benchcontroller runs the same Jobs by kube-controller-manager's Job controller, of k8s.io/kubernetes v1.37.2, and by
// the one of package controller, each in this process, on the same API server, with the same limit of calls. It prints a table
// of times and calls.
//
// The Jobs are those of BenchmarkLargeIndexedJob and BenchmarkLargeFailureHandling in upstream's test/integration/job, which
// the KEP for backoffLimitPerIndex (KEP-3850) was measured with, and so are QPS and burst of 100 and the back-off of 100 ms.
// Jobs that fail also have a podFailurePolicy, of which no rule matches.
//
// # A trial
//
// A trial is one Job in a namespace of its own. It has phases: all pods are created; in a failing Job all of them fail at
// once and are replaced; all pods end; the last finalizer is removed. A client without limits plays the kubelet. Each phase
// but the last begins when the controller has made no calls for so long that it could make a burst again. So a phase depends
// on the controller and not on what was before it, which upstream's benchmarks leave to chance. Calls after a phase's
// milestone belong to that phase. Where several phases are added up, the sum includes the time until their last calls, but
// not the rest between them.
//
// Times are taken where a client of the API server sees them. Calls are counted at the transport, below the rate limiter.
// Upstream sends events through the same limiter, podverdict does not; both send a few for each Job. They are counted apart,
// and the lists and watches of the caches are not counted.
//
// It exits with 2 when it could not run to the end. What the table says does not change the exit code.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func main() {
	os.Exit(controlplane.Main(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		klog.LogToStderr(false) // but for errors
		klog.SetOutput(io.Discard)
		if err := benchcontroller(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "benchcontroller:", err)
			return 2
		}
		return 0
	}))
}

type options struct {
	sizes  []int // of Jobs, in pods
	shapes []shape
	until  milestone
	runs   int // of each trial; 0 for what suits the size
}

// mostPods is what the API server lets a Job with backoffLimitPerIndex run at a time without a maxFailedIndexes.
const mostPods = 10_000

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("benchcontroller", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sizes := flags.String("n", "10,100,1000", "numbers of pods of the Jobs, up to 10000")
	shapes := flags.String("shapes", "succeed,fail", "what becomes of the pods")
	until := flags.String("until", string(released), "milestone at which trials end: created, replaced, finished or released")
	flags.IntVar(&o.runs, "runs", 0, "runs of each trial (0: 5 of up to 10 pods, 3 of up to 100, 1 above)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.runs < 0 {
		return o, errors.New("-runs must not be negative, and there are no arguments")
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		pods, err := strconv.Atoi(text)
		if err != nil || pods < 1 || pods > mostPods {
			return o, fmt.Errorf("%q pods: a Job has from 1 to %d", text, mostPods)
		}
		o.sizes = append(o.sizes, pods)
	}
	for name := range strings.SplitSeq(*shapes, ",") {
		known := []shape{succeeding(), failing()}
		at := slices.IndexFunc(known, func(s shape) bool { return s.name == name })
		if at < 0 {
			return o, fmt.Errorf("unknown shape %q: there are succeed and fail", name)
		}
		o.shapes = append(o.shapes, known[at])
	}
	if o.until = milestone(*until); !slices.Contains(failing().phases, o.until) {
		return o, fmt.Errorf("unknown milestone %q: there are %v", *until, failing().phases)
	}
	return o, nil
}

// benchcontroller prints each row of the table when it has been measured.
func benchcontroller(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	cluster, err := controlplane.Open() //nolint:contextcheck // it ends with the program
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, tableHead)
	for _, pods := range o.sizes {
		for _, shape := range o.shapes {
			t := trial{config: cluster.Config, shape: shape, pods: pods, phases: shape.until(o.until)}
			theirs, ours, err := compare(ctx, t, cmp.Or(o.runs, runsOf(pods)), stderr)
			if err != nil {
				return err
			}
			writeRows(stdout, t, theirs, ours)
		}
	}
	return nil
}

// compare returns the phases of all runs of a trial. The controllers take turns to begin, because the machine's speed varies.
func compare(ctx context.Context, t trial, runs int, log io.Writer) (theirs, ours [][]phase, err error) {
	turns := []struct {
		contender contender
		results   *[][]phase
	}{{upstream(), &theirs}, {podverdict(), &ours}}
	for run := range runs {
		for i := range turns {
			turn := turns[(run+i)%len(turns)]
			fmt.Fprintf(log, "%d pods %s, run %d of %d: %s\n", t.pods, t.shape.name, run+1, runs, turn.contender.name)
			t.contender = turn.contender
			phases, err := t.run(ctx)
			if err != nil {
				return nil, nil, fmt.Errorf("%s, %d pods %s: %w", t.contender.name, t.pods, t.shape.name, err)
			}
			*turn.results = append(*turn.results, phases)
		}
	}
	return theirs, ours, nil
}

// runsOf returns the number of runs that suits the size of a Job.
func runsOf(pods int) int {
	switch {
	case pods <= 10:
		return 5
	case pods <= 100:
		return 3
	default:
		return 1
	}
}
