package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	_ "time/tzdata" // rules name time zones, which browsers, Windows and most images do not have in files

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/terminal"
)

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	prepare()
	// All output goes through these writers: names in it must neither control a terminal nor command a CI system.
	var result bytes.Buffer
	safeErr := terminal.NewWriter(stderr)
	root := newRoot(newProgram(displayName(args[0]), terminal.NewWriter(stdout)))
	root.SetArgs(args[1:])
	root.SetIn(stdin)
	root.SetOut(terminal.NewWriter(&result))
	root.SetErr(safeErr)
	err := root.ExecuteContext(context.Background())
	if err == nil || errors.Is(err, cli.ErrFindings) || errors.Is(err, cli.ErrUnread) {
		if _, failure := result.WriteTo(stdout); failure != nil {
			err = cli.StdoutError(failure)
		}
	}
	return cli.Complain(safeErr, err)
}

// displayName returns how the user called the program: kubectl runs a plugin by the name of its file.
func displayName(executable string) string {
	name := strings.TrimSuffix(filepath.Base(executable), ".exe")
	if strings.HasPrefix(name, "kubectl-") {
		return strings.ReplaceAll(name, "-", " ")
	}
	return "podverdict"
}

// formatAlias makes --format, as other tools call it, mean --output.
func formatAlias(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "format" {
		name = "output"
	}
	return pflag.NormalizedName(name)
}
