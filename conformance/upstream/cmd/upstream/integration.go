package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// integrationOptions are the flags of integration.
type integrationOptions struct {
	run     string
	count   int
	native  bool
	release string
}

func (o *integrationOptions) define(flags *flag.FlagSet) {
	flags.StringVar(&o.run, "run", "", "regular expression of the tests to run; all without it")
	flags.IntVar(&o.count, "count", 1, "runs of each test")
	flags.BoolVar(&o.native, "native", false, "run upstream's controller")
	flags.StringVar(&o.release, "release", "", "release of Kubernetes, as in v1.36.3; without it the one that go.mod requires")
}

// integration runs Kubernetes' own integration tests of the Job controller, test/integration/job of the k8s.io/kubernetes
// that go.mod requires, or with -release of another, against podverdict's controller, or with -native unchanged against
// upstream's. The tests need etcd and start an API server in their own process. Gotestsum prints their results.
func integration(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o integrationOptions
	if err := parse("integration", args, stderr, o.define, func() bool { return o.count > 0 }); err != nil {
		return 2
	}
	switch err := o.test(ctx, stdout, stderr); {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	default:
		fmt.Fprintf(stderr, "integration: %v\n", err)
		return 2
	}
}

func (o *integrationOptions) test(ctx context.Context, stdout, stderr io.Writer) (err error) {
	suite, err := findSuite(ctx, o.release)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "integration-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	arguments, err := suite.arguments(ctx, work, *o)
	if err != nil {
		return err
	}
	if o.native {
		arguments = append(arguments, "k8s.io/kubernetes/"+folder)
	} else {
		files, err := suite.edited()
		if err != nil {
			return err
		}
		overlay, err := suite.overlay(work, files)
		if err != nil {
			return err
		}
		var skipped []string
		fmt.Fprintln(stdout, "not applicable:")
		for _, e := range notApplicable(suite.version, strings.Join(slices.Collect(maps.Values(files)), "")) {
			fmt.Fprintf(stdout, "  %s: %s\n", strings.NewReplacer("^", "", "$", "").Replace(e.test), e.reason)
			skipped = append(skipped, e.test)
		}
		arguments = append(arguments, "-overlay", overlay, "-skip", strings.Join(skipped, "|"), "./integration")
	}
	return suite.goTest(ctx, arguments, stdout, stderr)
}
