package version

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

// New returns the verb version.
func New(p *cli.Program) *cobra.Command {
	var output cli.Format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of podverdict with its commit and the commit's date, the\nversions of its Go and cel-go, and of the Kubernetes that it decides for by\ndefault.",
		Example: "  podverdict version -o json",
		Args:    cli.NoArguments,
		RunE:    cli.Run(p, &output, run),
	}
	p.AddFormat(cmd, &output, "text", "json", "yaml")
	return cmd
}

func run(_ context.Context, c *cli.Console, output *cli.Format, _ []string) error {
	if output.IsObject() {
		return output.WriteObject(c.Stdout, cli.ReadBuild())
	}
	return Print(c.Stdout)
}

// Print writes the version of the program and of what it is built from.
func Print(out io.Writer) error {
	_, err := fmt.Fprintln(out, cli.ReadBuild())
	return err
}
