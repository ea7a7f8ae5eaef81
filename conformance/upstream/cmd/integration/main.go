// Command integration runs Kubernetes' own integration tests of the Job controller, test/integration/job of the k8s.io/kubernetes
// that go.mod requires, or with -release of another, against podverdict's controller, or with -native against upstream's as they stand. The tests need etcd and
// start an API server in their own process.
//
// It exits with 1 when a test failed, and with 2 when it could not run to the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := integration(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	run     string
	count   int
	native  bool
	release string
	log     string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("integration", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.run, "run", "", "regular expression of the tests to run; all without it")
	flags.IntVar(&o.count, "count", 1, "runs of each test")
	flags.BoolVar(&o.native, "native", false, "run upstream's controller")
	flags.StringVar(&o.release, "release", "", "release of Kubernetes, as in v1.36.3; without it the one that go.mod requires")
	flags.StringVar(&o.log, "log", "", "file for all that the tests write")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.count < 1 {
		fmt.Fprintln(stderr, "integration: -count must be positive, and there are no arguments")
		return o, flag.ErrHelp
	}
	return o, nil
}

// integration runs the command and returns its exit code.
func integration(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	s := &summary{out: stdout}
	if err := o.test(ctx, s); err != nil {
		fmt.Fprintf(stderr, "integration: %v\n", err)
		return 2
	}
	s.write()
	if s.failed() {
		return 1
	}
	return 0
}

// test runs the tests, and fills in the summary.
func (o options) test(ctx context.Context, s *summary) (err error) {
	suite, err := findSuite(ctx, o.release)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "integration-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	log := io.Discard
	if o.log != "" {
		file, err := os.Create(o.log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		log = file
	}
	files, err := suite.edited()
	if err != nil {
		return err
	}
	if !o.native {
		s.excluded = notApplicable(suite.version, strings.Join(slices.Collect(maps.Values(files)), ""))
	}
	arguments, err := suite.arguments(ctx, work, o, files, s.excluded)
	if err != nil {
		return err
	}
	return suite.goTest(ctx, arguments, func(e event) { s.add(e); fmt.Fprint(log, e.Output) })
}
