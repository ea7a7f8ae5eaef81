package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Program is what verbs know of the program that they are part of.
type Program struct {
	// Name is how users call it.
	Name string
	// Stdout is standard output itself, for verbs that write as they go, and for the width of a terminal.
	Stdout io.Writer
	// YAML writes an object. It is nil in a program without this format.
	YAML func(w io.Writer, object any) error
	// JSONPath parses a template, and returns the function that executes it. It is nil in a program without templates.
	JSONPath func(template string) (func(w io.Writer, object any) error, error)
	// AddAtFlag adds the flag that names Jobs in objects of other kinds. It is nil in a program that cannot parse its paths.
	AddAtFlag func(*pflag.FlagSet, *manifest.Options)
}

// Console is where a verb reads and writes, and all that it knows of the command line beside its own options.
type Console struct {
	Stdin  io.Reader
	Stdout io.Writer // the result, which is written out once the verb has ended well
	Stderr io.Writer
	Live   io.Writer              // standard output itself, for what must not wait for the end
	Given  func(flag string) bool // whether the user gave a flag
	warned map[string]bool
}

// Run returns what cobra calls for a verb: do, with the options that the flags have set.
func Run[T any](p *Program, options *T, do func(context.Context, *Console, *T, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c := &Console{
			Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), Live: p.Stdout,
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
