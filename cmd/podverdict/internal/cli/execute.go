package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	_ "time/tzdata" // rules name time zones, but browsers, Windows and most images have no time zone files

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/internal/terminal"
)

// NewRoot returns the root command. It does not print errors; Execute does.
func NewRoot() *cobra.Command {
	root := &cobra.Command{Use: "podverdict", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(WithHelp)
	root.SetGlobalNormalizationFunc(formatAlias)
	return root
}

// formatAlias makes --format, its name in other tools, an alias of --output.
func formatAlias(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "format" {
		name = "output"
	}
	return pflag.NormalizedName(name)
}

// Execute runs the command of a program and returns the exit code. All output passes through writers that sanitise names, so that they
// can neither control a terminal nor send commands to a CI system.
func Execute(p *Program, newRoot func(*Program) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var result bytes.Buffer
	safeErr := terminal.NewWriter(stderr)
	p.Stdout = terminal.NewWriter(stdout)
	root := newRoot(p)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(terminal.NewWriter(&result))
	root.SetErr(safeErr)
	err := root.ExecuteContext(context.Background())
	if err == nil || errors.Is(err, ErrFindings) || errors.Is(err, ErrUnread) {
		if _, failure := result.WriteTo(stdout); failure != nil {
			err = StdoutError(failure)
		}
	}
	return Complain(safeErr, err)
}
