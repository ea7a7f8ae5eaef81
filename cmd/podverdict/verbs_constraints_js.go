//go:build constraints

package main

import (
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/check"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/generate"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/simulate"
)

// newPageVerbs returns the verbs that need the Rego bundle or the API server's own CEL.
func newPageVerbs(p *cli.Program) []*cobra.Command {
	generates := &cobra.Command{Use: "generate"}
	generates.AddCommand(generate.NewVAP(p))
	return []*cobra.Command{check.New(p), simulate.New(p), generates}
}
