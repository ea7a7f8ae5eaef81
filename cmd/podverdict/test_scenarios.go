package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suite"
	"github.com/podverdict/podverdict/internal/scenarios"
)

func newTestScenarios() *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:   "scenarios [NAME]",
		Short: "List the Pods that cases can be built on, or write one",
		Long: `List the scenarios that every suite of tests has: Pods as Kubernetes leaves them when something has happened to them.
With a name, write that Pod, of a Job with one container.`,
		Example: `  podverdict test scenarios
  podverdict test scenarios evicted`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE:              verb(&output, testScenarios),
	}
	addFormat(cmd, &output, "yaml", "json")
	return cmd
}

// testScenarios prints the Pod of a scenario, or a table of all scenarios.
func testScenarios(_ context.Context, c *console, output *format, args []string) error {
	if len(args) == 1 {
		known := scenarios.Find(args[0])
		if known == nil {
			return errors.New(suite.MessageUnknown("scenario", args[0], scenarios.Names()))
		}
		return errStdout(writeObject(c.stdout, output.name, known.Pod(scenarios.PlainJob())))
	}
	if c.given("output") {
		return usagef("--output is for the Pod of a scenario: give its name")
	}
	table := printers.GetNewTabWriter(c.stdout)
	fmt.Fprintln(table, "NAME\tPHASE\tWHAT HAS HAPPENED")
	for _, s := range scenarios.All {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Name, s.Phase, s.Means)
	}
	return errStdout(table.Flush())
}
