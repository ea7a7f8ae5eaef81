package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// newRoot returns the command with the verbs that a page has. It has no template for help, which would link all methods of all types.
func newRoot(_ string, stdout io.Writer) *cobra.Command {
	root := &cobra.Command{Use: "podverdict", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newPageVerbs(stdout)...)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(errUsage)
	root.SetGlobalNormalizationFunc(formatAlias)
	return root
}

// addAtFlag adds nothing: the paths that the flag takes are read with the API server's schemas.
func addAtFlag(*pflag.FlagSet, *manifest.Options) {}
