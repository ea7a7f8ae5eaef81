// Command benchcontroller runs the same Jobs by upstream's Job controller and by podverdict's, on an API server of its own,
// and prints a table of times and calls.
//
// It exits with 2 when it could not run to the end. What the table says does not change the exit code.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/conformance/upstream/controllerbench"
	"github.com/podverdict/podverdict/internal/controlplane"
)

func main() {
	os.Exit(controlplane.Main(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		klog.LogToStderr(false) // but for errors
		klog.SetOutput(io.Discard)
		return benchcontroller(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}))
}

// options are what the flags say.
type options struct {
	controllerbench.Comparison

	profile string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{Comparison: controllerbench.Comparison{Log: stderr, Limit: controllerbench.DefaultLimit}}
	o.Sizes, o.Shapes = []int{10, 100, 1000}, []controllerbench.Shape{controllerbench.Succeed(), controllerbench.Fail()}
	flags := flag.NewFlagSet("benchcontroller", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("n", "numbers of pods of the Jobs, up to 10000 (default 10,100,1000)", list(&o.Sizes, strconv.Atoi))
	flags.Func("shapes", "what becomes of the pods (default succeed,fail)", list(&o.Shapes, controllerbench.ParseShape))
	flags.Func("until", "milestone at which trials end: created, replaced, finished or released (default released)", func(name string) (err error) {
		o.Last, err = controllerbench.ParseMilestone(name)
		return err
	})
	flags.IntVar(&o.Runs, "runs", 0, "runs of each trial (0: 5 of up to 10 pods, 3 of up to 100, 1 above)")
	flags.Func("qps", "calls a second that a controller may make (default 100)", func(text string) error {
		qps, err := strconv.ParseFloat(text, 32)
		o.Limit.QPS = float32(qps)
		return err
	})
	flags.IntVar(&o.Limit.Burst, "burst", o.Limit.Burst, "calls that it may make at once")
	flags.StringVar(&o.profile, "cpuprofile", "", "file for a CPU profile of this process")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	err := o.Check()
	if flags.NArg() > 0 {
		err = errors.New("there are no arguments")
	}
	if err != nil {
		fmt.Fprintf(stderr, "benchcontroller: %v\n", err)
	}
	return o, err
}

// list parses names that are separated by commas.
func list[T any](to *[]T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		*to = nil
		for name := range strings.SplitSeq(text, ",") {
			value, err := parse(name)
			if err != nil {
				return err
			}
			*to = append(*to, value)
		}
		return nil
	}
}

// benchcontroller runs the command and returns its exit code.
func benchcontroller(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if err := o.run(ctx, stdout); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(stderr, "benchcontroller: %v\n", err)
		return 2
	}
	return 0
}

// run compares, and prints what there is even if not all could be measured.
func (o options) run(ctx context.Context, stdout io.Writer) error {
	if o.profile != "" {
		file, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	cluster, err := controlplane.Open()
	if err != nil {
		return err
	}
	o.Config, o.Peer, o.Own = cluster.Config, controllerbench.Upstream(), controllerbench.Podverdict()
	table, err := o.Comparison.Run(ctx)
	table.Write(stdout)
	return err
}
