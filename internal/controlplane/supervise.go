package controlplane

import (
	"fmt"
	"net/rpc"
	"os"
	"os/signal"
	"syscall"
)

// supervise runs the supervisor: it serves the test binary until that is gone, and
// returns the exit code.
func supervise() int {
	// The test binary may be gone when an answer is ready, and the terminal with it.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)

	directory, err := os.MkdirTemp("", "podverdict-control-plane-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	plane := newPlane(directory)
	server := rpc.NewServer()
	if err := server.RegisterName("Plane", plane); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	gone := make(chan struct{})
	leash := duplex{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr // nothing else may write on it
	go func() {
		defer close(gone)
		server.ServeConn(leash)
	}()
	select {
	case <-gone:
	case <-told:
	}
	if err := plane.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
