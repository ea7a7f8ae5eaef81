//go:build !constraints

package main

import (
	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/compile"
)

// newPageVerbs returns the verbs that do without the Rego bundle.
func newPageVerbs(p *cli.Program) []*cobra.Command {
	return []*cobra.Command{newEval(p), newExplain(p), newDiff(p), compile.New(p)}
}
