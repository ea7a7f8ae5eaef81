// Command benchcontroller runs the same Jobs with kube-controller-manager's Job controller, of k8s.io/kubernetes v1.37.2,
// and with package controller, each in its own process, on the same API server. It prints a table of times, calls, CPU
// time and memory.
//
// Jobs that succeed or fail are those of BenchmarkLargeIndexedJob and BenchmarkLargeFailureHandling in upstream's
// test/integration/job, with which the KEP for backoffLimitPerIndex (KEP-3850) was measured. QPS and burst of 100 and the
// back-off of 100 ms are also theirs. Jobs that fail also have a podFailurePolicy without a matching rule. In the shapes
// stream and many, calls are not limited, so that the controllers themselves are the bottleneck.
//
// # A trial
//
// A trial is one Job, or many concurrent ones, in its own namespace. It has phases: all pods are created; in a failing
// Job all of them fail at once and are replaced; all pods end; the last finalizer is removed. In a stream, all pods
// become ready, and then they end one after the other. A client without limits acts as the kubelet. Each phase except the
// finalizers' begins when the controller has made no calls for so long that it could make a burst again. So a phase
// depends on the controller and not on earlier phases, which upstream's benchmarks leave to chance. Calls after a phase's
// milestone belong to that phase. If several phases are added up, the sum includes the time until their last calls, but
// not the rest between them.
//
// Times are measured by a client of the API server. Calls are counted at the transport, below the rate limiter. Upstream
// sends events through the same limiter, podverdict does not; both send a few for each Job. Events are counted
// separately, and the lists and watches of the caches are not counted. An end is a pod ended by the kubelet; its CPU time
// includes all work of the controller until it rests.
//
// The exit code is 2 if a trial could not be completed. The results do not affect it.
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
	"time"

	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func main() {
	klog.LogToStderr(false) // except for errors
	klog.SetOutput(io.Discard)
	serveChild(upstream(), podverdict())
	os.Exit(controlplane.Main(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := benchcontroller(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "benchcontroller:", err)
			return 2
		}
		return 0
	}))
}

type options struct {
	shapes  []shape
	until   milestone
	runs    int           // runs of each trial; 0 selects a number by size
	length  time.Duration // duration of a stream
	profile string        // file name, or ""; * is replaced by the controller and the number of pods
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("benchcontroller", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sizes := flags.String("n", "", "numbers of pods, up to 10000, or up to 100000 in a stream (default 10,100,1000; stream: 1000,10000,100000; many: 2000)")
	names := flags.String("shapes", "succeed,fail", "what becomes of the pods: succeed, fail, stream or many")
	until := flags.String("until", string(released), "milestone at which trials end: created, replaced, finished or released")
	flags.IntVar(&o.runs, "runs", 0, "runs of each trial (0: 5 of up to 10 pods, 3 of up to 100, 1 above)")
	flags.DurationVar(&o.length, "length", time.Minute, "time in which pods of a stream end, at most half of them")
	flags.StringVar(&o.profile, "profile", "", "`file` for the CPU profile of a stream; * becomes the controller and the number of pods")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.runs < 0 || o.length < 0 {
		return o, errors.New("-runs and -length must not be negative, and there are no arguments")
	}
	var asked []int
	for text := range strings.FieldsFuncSeq(*sizes, func(r rune) bool { return r == ',' }) {
		pods, err := strconv.Atoi(text)
		if err != nil || pods < 1 || pods > 100_000 {
			return o, fmt.Errorf("%q pods: there are from 1 to 100000", text)
		}
		asked = append(asked, pods)
	}
	known := []shape{succeeding(), failing(), streaming(), crowding()}
	for name := range strings.SplitSeq(*names, ",") {
		at := slices.IndexFunc(known, func(s shape) bool { return s.name == name })
		if at < 0 {
			return o, fmt.Errorf("unknown shape %q: there are succeed, fail, stream and many", name)
		}
		if asked != nil {
			known[at].sizes = asked
		}
		o.shapes = append(o.shapes, known[at])
	}
	if o.until = milestone(*until); !slices.Contains(failing().phases, o.until) {
		return o, fmt.Errorf("unknown milestone %q: there are %v", *until, failing().phases)
	}
	return o, nil
}

// benchcontroller prints each row of the table once it has been measured.
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
	for _, shape := range o.shapes {
		for _, pods := range shape.sizes {
			t := trial{config: cluster.Config, options: o, shape: shape, pods: pods, phases: shape.until(o.until)}
			results, err := compare(ctx, t, stderr)
			if err != nil {
				return err
			}
			writeRows(stdout, t, results[0], results[1])
		}
	}
	return nil
}

// compare returns the phases of all runs of a trial, by contender. The contenders take turns in starting, because the
// machine's speed varies.
func compare(ctx context.Context, t trial, log io.Writer) (results [2][][]phase, err error) {
	contenders, runs := []contender{upstream(), podverdict()}, cmp.Or(t.runs, runsOf(t.pods))
	for turn := range 2 * runs {
		which := (turn + turn/2) % 2
		t.contender = contenders[which]
		fmt.Fprintf(log, "%d pods %s, run %d of %d: %s\n", t.pods, t.shape.name, turn/2+1, runs, t.contender.name)
		phases, err := t.run(ctx)
		if err != nil {
			return results, fmt.Errorf("%s, %d pods %s: %w", t.contender.name, t.pods, t.shape.name, err)
		}
		for i, p := range phases {
			fmt.Fprintf(log, "%s after %.1f s and %.1f s of CPU time\n", t.phases[i], p.reached.Seconds(), p.used.CPU.Seconds())
		}
		results[which] = append(results[which], phases)
	}
	return results, nil
}

// runsOf returns the number of runs for a size of Jobs.
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
