package main

import (
	"github.com/podverdict/podverdict/cmd/podverdict/internal/compile"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/page"
)

// main serves the verbs that do without the Rego bundle.
func main() { page.Serve(newEval, newExplain, newDiff, compile.New) }
