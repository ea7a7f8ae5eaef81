// Command constraints is the part of the playground's program with the commands that need the Rego bundle or the API
// server's own CEL.
package main

import (
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/check"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/generate"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/page"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/simulate"
)

func main() { page.Serve(check.New, simulate.New, newGenerate) }

func newGenerate(p *cli.Program) *cobra.Command {
	generates := &cobra.Command{Use: "generate"}
	generates.AddCommand(generate.NewVAP(p))
	return generates
}
