package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpTemplate begins with how to call a verb. Its explanation stands between that and the flags.
const helpTemplate = `Usage:{{if and .Runnable .HasParent}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}

{{or .Long .Short | trimTrailingWhitespaces}}
{{$verbs := .Commands}}{{if .HasAvailableSubCommands}}{{range $group := .Groups}}
{{$group.Title}}
{{range $verbs}}{{if eq .GroupID $group.ID}}  {{rpad .Name .NamePadding}}  {{.Short}}
{{end}}{{end}}{{end}}{{if not .AllChildCommandsHaveGroup}}
{{if .Groups}}Others:{{else}}Commands:{{end}}
{{range $verbs}}{{if and (eq .GroupID "") (or .IsAvailableCommand (eq .Name "help"))}}  {{rpad .Name .NamePadding}}  {{.Short}}
{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableFlags}}
Flags:
{{.Flags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableSubCommands}}
{{.CommandPath}} COMMAND --help says more about a command.
{{end}}` + exitCodes

// newHelp returns the verb that shows the help of others.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, below := range found.Commands() {
				if below.IsAvailableCommand() && strings.HasPrefix(below.Name(), word) {
					names = append(names, cobra.CompletionWithDesc(below.Name(), below.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return verbArgument(found, append(rest, args...))
			}
			return found.Help()
		},
	}
}

// newCompletion adds to cobra's own completion what kubectl asks for, and refuses shells that it does not know.
func newCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		root.PrintErrln(err)
		return
	}
	completion.Args = verbArgument
	completion.RunE = missingVerb(completion)
	completion.AddCommand(&cobra.Command{
		Use:   "kubectl",
		Short: "Write the program that kubectl asks for completions",
		Long: `Write the program that kubectl asks for completions of "kubectl podverdict". Put
it beside kubectl-podverdict, under the name kubectl_complete-podverdict, and
make it executable.`,
		Example: `  podverdict completion kubectl > ~/bin/kubectl_complete-podverdict && chmod +x ~/bin/kubectl_complete-podverdict`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), "#!/bin/sh\nexec kubectl-podverdict __complete \"$@\"\n")
			return err
		},
	})
}

// missingVerb returns what a command does that has others below it: it asks which.
func missingVerb(cmd *cobra.Command) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		var names []string
		for _, below := range cmd.Commands() {
			names = append(names, below.Name())
		}
		return errUsage(cmd, errors.New(cmd.Name()+" what? there are: "+strings.Join(names, ", ")))
	}
}
