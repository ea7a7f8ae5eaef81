// Command page is the part of the playground's program with the commands that do not need the Rego
// bundle.
package main

import (
	"github.com/podverdict/podverdict/cmd/podverdict/internal/compile"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/diff"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/eval"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/explain"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/page"
)

func main() { page.Serve(eval.New, explain.New, diff.New, compile.New) }
