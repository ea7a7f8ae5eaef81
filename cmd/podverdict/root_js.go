package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

// newProgram returns a program that writes neither YAML nor templates.
func newProgram(name string, stdout io.Writer) *cli.Program {
	return &cli.Program{Name: name, Stdout: stdout}
}

// newRoot returns the command with the verbs that a page has. It has no template for help, which would link all methods of all types.
func newRoot(p *cli.Program) *cobra.Command {
	root := &cobra.Command{Use: "podverdict", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newPageVerbs(p)...)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(cli.WithHelp)
	root.SetGlobalNormalizationFunc(formatAlias)
	return root
}
