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

// late is the GC percentage with which a heap that starts at 4 MB is first collected at 64 MB.
const late = 1600

// ballast is memory that is never written to, so it costs nothing. The garbage collector counts it as live heap.
var ballast []byte

// collectLate delays the first garbage collection until 64 MB are in use, because most commands end before. After the first
// collection, it allows an additional 8 MB of garbage, unless a command has set another percentage.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(late)
	runtime.AddCleanup(new([16]byte), func(usual int) {
		if set := debug.SetGCPercent(usual); set != late {
			debug.SetGCPercent(set)
		} else {
			ballast = make([]byte, 8<<20)
		}
	}, usual)
}

// run runs the program and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE) // report writing to a closed pipe as an ordinary error
	return cli.Execute(newProgram(displayName(args[0])), newRoot, args[1:], stdin, stdout, stderr)
}

// displayName returns the name by which the user called the program. For a kubectl plugin, kubectl derives it from the file
// name.
func displayName(executable string) string {
	name := strings.TrimSuffix(filepath.Base(executable), ".exe")
	if strings.HasPrefix(name, "kubectl-") {
		return strings.ReplaceAll(name, "-", " ")
	}
	return "podverdict"
}
