//go:build !js

package main

import (
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
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

// prepare makes writing to a pipe that nobody reads an error like any other.
func prepare() { signal.Ignore(syscall.SIGPIPE) }
