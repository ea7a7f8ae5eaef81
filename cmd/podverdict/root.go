package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/admission"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/check"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/compile"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/diff"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/engine"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/eval"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/explain"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/generate"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/history"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/rescue"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/simulate"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/suggest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/suites"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/version"
)

const (
	groupPods    = "pods"
	groupChecks  = "checks"
	groupInstall = "install"
)

// newProgram returns the parts of the program that are passed to its commands.
func newProgram(name string) *cli.Program {
	return &cli.Program{Name: name, YAML: print.YAML, JSONPath: parseJSONPath, AddAtFlag: addAtFlag}
}

// newRoot returns the root command with all subcommands. Only engine, eval --watch and test write to stdout as they go.
func newRoot(p *cli.Program) *cobra.Command {
	root := cli.NewRoot()
	root.Short = "What failed Pods mean for their Jobs, and why"
	root.Long = `podverdict says what a failed Pod means for its Kubernetes Job, and why: every
failed Pod gets a verdict by the rules of spec.podFailurePolicy. It reads Jobs
and Pods from files, without a cluster, or from a cluster.`
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: p.Name}
	root.Example = strings.ReplaceAll(`  podverdict eval job.yaml
  podverdict eval job/demo
  podverdict diff old.yaml new.yaml`, "podverdict ", p.Name+" ")
	root.Args = cli.VerbArgument
	var showVersion bool
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if showVersion {
			return version.Print(cmd.OutOrStdout())
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
			verb.Example = strings.ReplaceAll(verb.Example, "podverdict ", p.Name+" ")
			root.AddCommand(verb)
		}
	}
	add(groupPods, eval.New(p), explain.New(p), diff.New(p), compile.New(p), check.New(p), check.NewRules(p), suites.New(p),
		simulate.New(p), report.New(p), suggest.New(p), history.New(p), playground.New(p))
	add(groupChecks, engine.NewConformance(p), engine.New(p), generate.New(p), admission.New(p))
	add(groupInstall, rescue.New(p))
	add("", version.New(p))
	cli.AddHelp(root)
	cli.AddShellCompletion(root)
	root.SetHelpFunc(cli.ShowHelp)
	return root
}
