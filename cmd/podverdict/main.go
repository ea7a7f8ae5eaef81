package main

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

func main() {
	collectLate()
	code := run(os.Args, os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// late is the percentage of garbage at which a heap that begins at 4 MB is collected at 64 MB.
const late = 1600

// ballast is memory that is never written to, and so costs nothing. The garbage collector adds it to what is in use.
var ballast []byte

// collectLate has the garbage collector begin at 64 MB of memory, as most commands end before. After the first collection it
// lets 32 MB become garbage besides what it usually does, unless a command has set another percentage.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(late)
	runtime.AddCleanup(new([16]byte), func(usual int) {
		if set := debug.SetGCPercent(usual); set != late {
			debug.SetGCPercent(set)
		} else {
			ballast = make([]byte, 32<<20)
		}
	}, usual)
}

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE) // writing to a pipe that nobody reads is an error like any other
	return cli.Execute(newProgram(displayName(args[0])), newRoot, args[1:], stdin, stdout, stderr)
}

// displayName returns how the user called the program: kubectl runs a plugin by the name of its file.
func displayName(executable string) string {
	name := strings.TrimSuffix(filepath.Base(executable), ".exe")
	if strings.HasPrefix(name, "kubectl-") {
		return strings.ReplaceAll(name, "-", " ")
	}
	return "podverdict"
}
