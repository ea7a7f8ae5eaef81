package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of podverdict with its commit and the commit's date, the\nversions of its Go and cel-go, and of the Kubernetes that it decides for by\ndefault.",
		Example: "  podverdict version -o json",
		Args:    noArguments,
		RunE:    verb(&output, version),
	}
	addFormat(cmd, &output, "text", "json", "yaml")
	return cmd
}

func version(_ context.Context, c *console, output *format, _ []string) error {
	if output.isObject() {
		return writeObject(c.stdout, output.name, readVersion())
	}
	return printVersion(c.stdout)
}

func printVersion(out io.Writer) error {
	_, err := fmt.Fprintln(out, readVersion())
	return err
}
