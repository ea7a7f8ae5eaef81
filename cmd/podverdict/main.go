package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE) // writing to a pipe that nobody reads is an error like any other

	var result bytes.Buffer
	root := newRoot(displayName(args[0]), stdout)
	root.SetArgs(args[1:])
	root.SetIn(stdin)
	root.SetOut(&result)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil || errors.Is(err, errFindings) {
		if _, failure := result.WriteTo(stdout); failure != nil {
			err = errStdout(failure)
		}
	}
	return complain(stderr, err)
}
