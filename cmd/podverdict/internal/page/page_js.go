// Package page makes commands callable from a browser.
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

// Serve defines the JavaScript function podverdict(arguments, input, done), which calls done(code, stdout, stderr) with the result of
// the command line. Files are read from globalThis.fs. YAML output and help templates are not available, because they would link all
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
		go func() { // must not block the calling function, because the page's event loop waits for it
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

// collect runs the garbage collector after the page has received its answer, if the heap has reached half of the next target. This
// avoids collections while the page is waiting.
func collect() {
	time.Sleep(10 * time.Millisecond) // lets the worker post the answer first
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > memory.NextGC/2 {
		runtime.GC()
	}
}
