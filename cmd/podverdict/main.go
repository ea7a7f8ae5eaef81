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

// late is the percentage of garbage at which a heap that begins at 4 MB is collected at 64 MB.
const late = 1600

// collectLate has the garbage collector begin at 64 MB of memory, as most commands end before. After the first collection it
// works as usual, unless a command has set another percentage.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(late)
	runtime.AddCleanup(new([16]byte), func(usual int) {
		if set := debug.SetGCPercent(usual); set != late {
			debug.SetGCPercent(set)
		}
	}, usual)
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
