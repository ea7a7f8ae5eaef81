// Package page makes verbs callable from a browser.
package page

import (
	"bytes"
	"runtime"
	"strings"
	"syscall/js"
	"time"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

// Serve gives the page the function podverdict(arguments, input, done), which calls done(code, stdout, stderr) with what the command
// line would answer. Files are those of globalThis.fs. There is no YAML in the output, and no template for help, which would link all
// methods of all types.
func Serve(verbs ...func(*cli.Program) *cobra.Command) {
	newRoot := func(p *cli.Program) *cobra.Command {
		root := cli.NewRoot()
		for _, newVerb := range verbs {
			root.AddCommand(newVerb(p))
		}
		root.CompletionOptions.DisableDefaultCmd = true
		return root
	}
	js.Global().Set("podverdict", js.FuncOf(func(_ js.Value, given []js.Value) any {
		var args []string
		for i := range given[0].Length() {
			args = append(args, given[0].Index(i).String())
		}
		input, done := given[1].String(), given[2]
		go func() { // the function itself must not wait: the page's events wait for it
			var stdout, stderr bytes.Buffer
			code := cli.Execute(&cli.Program{Name: "podverdict"}, newRoot, args, strings.NewReader(input), &stdout, &stderr)
			done.Invoke(code, stdout.String(), stderr.String())
			collect()
		}()
		return nil
	}))
	js.Global().Call("ready")
	select {}
}

// collect collects garbage once the page has its answer, when half of what makes the collector run is there: it is not to run while
// the page waits.
func collect() {
	time.Sleep(10 * time.Millisecond) // the worker posts the answer meanwhile
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > memory.NextGC/2 {
		runtime.GC()
	}
}
