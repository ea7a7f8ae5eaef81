//go:build cluster

package controlplane_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingStaysBehind needs Linux: in /proc, the descendants of a process are found by their environment after it is
// gone.
func TestNothingStaysBehind(t *testing.T) {
	t.Parallel()
	plane := []string{"etcd", "kube-apiserver"}
	all := append(slices.Clone(plane), "kube-controller-manager", "kube-scheduler")
	for _, way := range []struct {
		name string
		by   string
		runs []string
		end  func(*testing.T, *child)
		want string // expected end of the test binary
	}{
		{name: "returns while all is paused", by: "pauses", runs: plane, end: proceed, want: "exit status 0"},
		{name: "panics", by: "panics", runs: plane, end: proceed, want: "exit status 2"},
		{name: "is interrupted", by: "hangs", runs: plane, end: signalled(syscall.SIGINT), want: "signal: interrupt"},
		{name: "is killed", by: "hangs", runs: all, end: signalled(syscall.SIGKILL), want: "signal: killed"},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			c := startChild(t, way.by)
			c.waitUp(t)
			running := c.running(t)
			for _, name := range way.runs {
				if !slices.Contains(running, name) {
					t.Errorf("%s does not run, only %v", name, running)
				}
			}
			way.end(t, c)
			c.ended(t, way.want)
		})
	}
	t.Run("is killed before it is up", func(t *testing.T) {
		t.Parallel()
		c := startChild(t, "hangs")
		for !slices.Contains(c.running(t), "etcd") {
			time.Sleep(10 * time.Millisecond)
		}
		signalled(syscall.SIGKILL)(t, c)
		c.ended(t, "signal: killed")
	})
}

// A child is a test binary with its own directory for temporary files, which identifies its descendants.
type child struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	stderr  *bytes.Buffer
	tmp     string
}

func startChild(t *testing.T, end string) *child {
	t.Helper()
	c := &child{command: exec.Command(os.Args[0], "-test.run=^TestEnds$"), stderr: &bytes.Buffer{}, tmp: t.TempDir()}
	c.command.Env = append(os.Environ(), "TMPDIR="+c.tmp, endsBy+"="+end)
	c.command.Stderr = c.stderr
	input, err := c.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := c.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.input, c.output = input, bufio.NewReader(output)
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // clean up even if the test fails
		for pid := range c.processes(t) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return c
}

func (c *child) waitUp(t *testing.T) {
	t.Helper()
	var said strings.Builder
	for {
		line, err := c.output.ReadString('\n')
		if line == "up\n" {
			return
		}
		if said.WriteString(line); err != nil {
			t.Fatalf("not up: %v\n%s%s", err, &said, c.stderr)
		}
	}
}

// processes returns the child and its descendants, with their arguments, by process id.
func (c *child) processes(t *testing.T) map[int][]string {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no processes found: %v", err)
	}
	processes := map[int][]string{}
	for _, folder := range folders {
		// A process that has just ended has neither, and other users' processes are not ours.
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		arguments, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if bytes.Contains(environment, []byte("TMPDIR="+c.tmp+"\x00")) && len(arguments) > 0 {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			processes[pid] = strings.Split(string(arguments), "\x00")
		}
	}
	return processes
}

// running returns the names of the running processes.
func (c *child) running(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, arguments := range c.processes(t) {
		names = append(names, filepath.Base(arguments[0]))
	}
	return names
}

// ended waits for the child's end and looks for its leftovers. The janitor has the child's standard error open while it
// works.
func (c *child) ended(t *testing.T, want string) {
	t.Helper()
	said, _ := io.ReadAll(c.output)
	err := c.command.Wait()
	got := "exit status 0"
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ProcessState.String()
	} else if err != nil {
		t.Fatal(err)
	}
	if got = strings.TrimSuffix(got, " (core dumped)"); got != want {
		t.Errorf("%s, want %s:\n%s%s", got, want, said, c.stderr)
	}
	if left := c.running(t); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	files, err := os.ReadDir(c.tmp)
	if err != nil || len(files) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", files, err)
	}
}

func proceed(t *testing.T, c *child) {
	t.Helper()
	if _, err := io.WriteString(c.input, "\n"); err != nil {
		t.Fatal(err)
	}
}

func signalled(signal syscall.Signal) func(*testing.T, *child) {
	return func(t *testing.T, c *child) {
		t.Helper()
		if err := c.command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
}
