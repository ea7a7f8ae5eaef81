package suites

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

func newScenarios(p *cli.Program) *cobra.Command {
	var output cli.Format
	cmd := &cobra.Command{
		Use:   "scenarios [NAME]",
		Short: "List the Pods that cases can be built on, or write one",
		Long: `List the scenarios that every suite of tests has: Pods as Kubernetes leaves them
when something has happened to them. With a name, write that Pod, of a Job with
one container.`,
		Example: `  podverdict test scenarios
  podverdict test scenarios evicted`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cli.CompleteScenarios,
		RunE:              cli.Run(p, &output, writeScenarios),
	}
	p.AddFormat(cmd, &output, "yaml", "json")
	return cmd
}

// writeScenarios prints the Pod of one scenario, or the descriptions of all scenarios grouped by phase.
func writeScenarios(_ context.Context, c *cli.Console, output *cli.Format, args []string) error {
	if len(args) == 1 {
		known := scenarios.Find(args[0])
		if known == nil {
			return errors.New(cli.UnknownName("scenario", args[0], scenarios.Names()))
		}
		return cli.StdoutError(output.WriteObject(c.Stdout, known.Pod(scenarios.PlainJob(), restart.GatesOf(kubeversion.Last))))
	}
	if c.Given("output") {
		return cli.Usagef("--output is for the Pod of a scenario: give its name")
	}
	page := print.NewTable(c.Stdout, print.Screen{}, false)
	phase := corev1.PodPhase("")
	for i := range scenarios.All {
		s := &scenarios.All[i]
		if s.Phase != phase {
			page.Heading(string(s.Phase), "")
			phase = s.Phase
		}
		page.Paragraph(2, print.Cell{Text: s.Name + ": " + s.Means})
	}
	return cli.StdoutError(page.Flush())
}
