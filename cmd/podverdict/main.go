package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/podverdict/podverdict/internal/terminal"
)

func main() {
	collectLate()
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// collectLate has the garbage collector begin at 64 MB of memory, not at 4, as most commands end before. From then on it works
// as usual.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(1600)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE) // writing to a pipe that nobody reads is an error like any other

	// All output goes through these writers: names in it must neither control a terminal nor command a CI system.
	var result bytes.Buffer
	safeErr := terminal.NewWriter(stderr)
	root := newRoot(displayName(args[0]), terminal.NewWriter(stdout))
	root.SetArgs(args[1:])
	root.SetIn(stdin)
	root.SetOut(terminal.NewWriter(&result))
	root.SetErr(safeErr)
	err := root.ExecuteContext(context.Background())
	if err == nil || errors.Is(err, errFindings) || errors.Is(err, errUnread) {
		if _, failure := result.WriteTo(stdout); failure != nil {
			err = errStdout(failure)
		}
	}
	return complain(safeErr, err)
}
