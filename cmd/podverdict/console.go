package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// console is where a verb reads and writes, and all that it knows of the command line beside its own options.
type console struct {
	stdin  io.Reader
	stdout io.Writer // the result, which is written out once the verb has ended well
	stderr io.Writer
	given  func(flag string) bool // whether the user gave a flag
	warned map[string]bool
}

// verb returns what cobra calls for a verb: do, with the options that the flags have set.
func verb[T any](options *T, do func(context.Context, *console, *T, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c := &console{
			stdin: cmd.InOrStdin(), stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(),
			given: cmd.Flags().Changed,
		}
		err := do(cmd.Context(), c, options, args)
		if wrong, ok := errors.AsType[usageError](err); ok {
			return errUsage(cmd, wrong)
		}
		return err
	}
}

// note writes a message for people beside the result.
func (c *console) note(message string) { paragraph(c.stderr, message) }

// warn writes a warning, unless it has been written already.
func (c *console) warn(message string) {
	if c.warned[message] {
		return
	}
	c.note("warning: " + message)
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
