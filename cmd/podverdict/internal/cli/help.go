package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

const exitCodes = `
Exit codes:
  0  fine
  1  findings, or a failed expectation
  2  usage, input, output or compile error
`

// ShowHelp writes the usage, then the description, then the flags. It does not use cobra's templates, because the linker keeps every
// exported method in a program that executes templates.
func ShowHelp(cmd *cobra.Command, _ []string) {
	var out strings.Builder
	out.WriteString("Usage:")
	if cmd.Runnable() && cmd.HasParent() {
		out.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		out.WriteString("\n  " + cmd.CommandPath() + " COMMAND")
	}
	if cmd.HasExample() {
		out.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	out.WriteString("\n\n" + trimRight(cmp.Or(cmd.Long, cmd.Short)) + "\n")
	if cmd.HasAvailableSubCommands() {
		writeVerbs(&out, cmd)
	}
	if cmd.HasAvailableFlags() {
		out.WriteString("\nFlags:\n" + trimRight(cmd.Flags().FlagUsagesWrapped(80)) + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		out.WriteString("\n" + cmd.CommandPath() + " COMMAND --help says more about a command.\n")
	}
	fmt.Fprint(cmd.OutOrStdout(), out.String()+exitCodes)
}

// writeVerbs lists the subcommands of a command by group.
func writeVerbs(out io.Writer, cmd *cobra.Command) {
	list := func(title, group string) {
		fmt.Fprintf(out, "\n%s\n", title)
		for _, verb := range cmd.Commands() {
			if verb.GroupID == group && (group != "" || verb.IsAvailableCommand() || verb.Name() == "help") {
				fmt.Fprintf(out, "  %-*s  %s\n", verb.NamePadding(), verb.Name(), verb.Short)
			}
		}
	}
	for _, group := range cmd.Groups() {
		list(group.Title, group.ID)
	}
	switch {
	case cmd.AllChildCommandsHaveGroup():
	case len(cmd.Groups()) > 0:
		list("Others:", "")
	default:
		list("Commands:", "")
	}
}

func trimRight(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// AddHelp adds cobra's help command, changed to reject unknown commands.
func AddHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		root.PrintErrln(err)
		return
	}
	help.Use, help.Short, help.Long, help.Run = "help [COMMAND...]", "Show the help of a command", "", nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return VerbArgument(found, append(rest, args...))
		}
		return found.Help()
	}
}

// AddShellCompletion adds cobra's completion command, with a subcommand for kubectl plugins, changed to reject unknown shells.
func AddShellCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		root.PrintErrln(err)
		return
	}
	completion.Args = VerbArgument
	completion.RunE = MissingVerb(completion)
	completion.AddCommand(&cobra.Command{
		Use:   "kubectl",
		Short: "Write the program that kubectl asks for completions",
		Long: `Write the program that kubectl asks for completions of "kubectl podverdict". Put
it beside kubectl-podverdict, under the name kubectl_complete-podverdict, and
make it executable.`,
		Example: `  podverdict completion kubectl > ~/bin/kubectl_complete-podverdict && chmod +x ~/bin/kubectl_complete-podverdict`,
		Args:    NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), "#!/bin/sh\nexec kubectl-podverdict __complete \"$@\"\n")
			return err
		},
	})
}

// MissingVerb returns a RunE function for a command group that asks for a subcommand.
func MissingVerb(cmd *cobra.Command) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		var names []string
		for _, below := range cmd.Commands() {
			names = append(names, below.Name())
		}
		return WithHelp(cmd, errors.New(cmd.Name()+" what? there are: "+strings.Join(names, ", ")))
	}
}
