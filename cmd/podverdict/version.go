package main

import (
	"context"
	"fmt"
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var output cli.Format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of podverdict with its commit and the commit's date, the\nversions of its Go and cel-go, and of the Kubernetes that it decides for by\ndefault.",
		Example: "  podverdict version -o json",
		Args:    cli.NoArguments,
		RunE:    cli.Run(&output, version),
	}
	cli.AddFormat(cmd, &output, "text", "json", "yaml")
	return cmd
}

func version(_ context.Context, c *cli.Console, output *cli.Format, _ []string) error {
	if output.IsObject() {
		return print.Object(c.Stdout, output.Name, cli.ReadBuild())
	}
	return printVersion(c.Stdout)
}

func printVersion(out io.Writer) error {
	_, err := fmt.Fprintln(out, cli.ReadBuild())
	return err
}
