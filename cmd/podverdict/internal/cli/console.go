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

// Program holds the properties of the program that its verbs depend on.
type Program struct {
	// Name is the command name that users type.
	Name string
	// Stdout is the unbuffered standard output, for verbs that write as they go and for the terminal's width.
	Stdout io.Writer
	// YAML writes an object. It is nil in a program without this format.
	YAML func(w io.Writer, object any) error
	// JSONPath parses a template, and returns a function that executes it. It is nil in a program without templates.
	JSONPath func(template string) (func(w io.Writer, object any) error, error)
	// AddAtFlag adds the flag that names Jobs in objects of other kinds. It is nil in a program that cannot parse the paths.
	AddAtFlag func(*pflag.FlagSet, *manifest.Options)
}

// Console holds the streams of a verb, and the parts of the command line that are not in its options.
type Console struct {
	Stdin  io.Reader
	Stdout io.Writer // buffered result, written when the verb ends successfully
	Stderr io.Writer
	Live   io.Writer              // unbuffered standard output, for output that must not wait for the end
	Given  func(flag string) bool // reports whether the user gave a flag
	warned map[string]bool
}

// Run returns a cobra RunE function that calls do with the options set by the flags.
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

// Note writes a message to standard error.
func (c *Console) Note(message string) { paragraph(c.Stderr, message) }

// Warn writes a warning to standard error, unless it was written before.
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
