//go:build !js

package main

import (
	"io"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/spf13/cobra"
)

const (
	groupPods    = "pods"
	groupChecks  = "checks"
	groupInstall = "install"
)

// newRoot returns the command with all verbs. Only engine, eval --watch and test write to stdout as they go.
func newRoot(name string, stdout io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "podverdict",
		Short: "What failed Pods mean for their Jobs, and why",
		Long: `podverdict says what a failed Pod means for its Kubernetes Job, and why: every
failed Pod gets a verdict by the rules of spec.podFailurePolicy. It reads Jobs
and Pods from files, without a cluster, or from a cluster.`,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Example: strings.ReplaceAll(`  podverdict eval job.yaml
  podverdict eval job/demo
  podverdict diff old.yaml new.yaml`, "podverdict ", name+" "),
		Args:          cli.VerbArgument,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	var showVersion bool
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if showVersion {
			return printVersion(cmd.OutOrStdout())
		}
		return cmd.Help()
	}
	root.AddGroup(
		&cobra.Group{ID: groupPods, Title: "Jobs and their Pods:"},
		&cobra.Group{ID: groupChecks, Title: "Engines and admission:"},
		&cobra.Group{ID: groupInstall, Title: "The controller:"},
	)
	add := func(group string, verbs ...*cobra.Command) {
		for _, verb := range verbs {
			verb.GroupID = group
			verb.Example = strings.ReplaceAll(verb.Example, "podverdict ", name+" ")
			root.AddCommand(verb)
		}
	}
	add(groupPods, newEval(stdout), newExplain(), newDiff(stdout), newCompile(), newCheck(stdout), newRules(stdout), newTest(stdout),
		newSimulate(), newReport(stdout), newSuggest(), newHistory(stdout), newPlayground(stdout))
	add(groupChecks, newConformance(), newEngine(stdout), newGenerate(), newAdmission(stdout))
	add(groupInstall, newRescue())
	add("", newVersion())
	cli.AddHelp(root)
	cli.AddShellCompletion(root)
	root.SetHelpFunc(cli.ShowHelp)
	root.SetFlagErrorFunc(cli.WithHelp)
	root.SetGlobalNormalizationFunc(formatAlias)
	return root
}
