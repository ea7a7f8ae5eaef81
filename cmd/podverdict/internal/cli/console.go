package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Console is where a verb reads and writes, and all that it knows of the command line beside its own options.
type Console struct {
	Stdin  io.Reader
	Stdout io.Writer // the result, which is written out once the verb has ended well
	Stderr io.Writer
	Given  func(flag string) bool // whether the user gave a flag
	warned map[string]bool
}

// Run returns what cobra calls for a verb: do, with the options that the flags have set.
func Run[T any](options *T, do func(context.Context, *Console, *T, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c := &Console{
			Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
			Given: cmd.Flags().Changed,
		}
		err := do(cmd.Context(), c, options, args)
		if wrong, ok := errors.AsType[usageError](err); ok {
			return WithHelp(cmd, wrong)
		}
		return err
	}
}

// Note writes a message for people beside the result.
func (c *Console) Note(message string) { paragraph(c.Stderr, message) }

// Warn writes a warning, unless it has been written already.
func (c *Console) Warn(message string) {
	if c.warned[message] {
		return
	}
	c.Note("warning: " + message)
	if c.warned == nil {
		c.warned = map[string]bool{}
	}
	c.warned[message] = true
}

// paragraph writes a message and indents all lines but the first, so that untrusted names in it cannot look like another message.
func paragraph(stderr io.Writer, message string) {
	message = strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n  ")
	fmt.Fprintln(stderr, strings.ReplaceAll(message, "\n  \n", "\n\n"))
}
