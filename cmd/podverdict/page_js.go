package main

import (
	"bytes"
	"strings"
	"syscall/js"
)

// main gives the page the function podverdict(arguments, input, done), which calls done(code, stdout, stderr) with what the command
// line would answer. Files are those of globalThis.fs.
func main() {
	js.Global().Set("podverdict", js.FuncOf(func(_ js.Value, given []js.Value) any {
		args := []string{"podverdict"}
		for i := range given[0].Length() {
			args = append(args, given[0].Index(i).String())
		}
		input, done := given[1].String(), given[2]
		go func() { // the function itself must not wait: the page's events wait for it
			var stdout, stderr bytes.Buffer
			code := run(args, strings.NewReader(input), &stdout, &stderr)
			done.Invoke(code, stdout.String(), stderr.String())
		}()
		return nil
	}))
	js.Global().Call("ready")
	select {}
}

// prepare has nothing to do in a page, which has no signals.
func prepare() {}
