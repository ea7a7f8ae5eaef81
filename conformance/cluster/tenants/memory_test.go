//go:build cluster

package tenants

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/podverdict/podverdict/internal/installed"
)

// memoryLimit is that of the Deployment's container.
const memoryLimit = 1 << 30

// cgroup limits the memory of what runs in it. It is empty where the system lets us make none: then a watch kills a replica
// that has more in use.
type cgroup string

// newCgroup makes a cgroup with the limit, of version 1 or 2.
func newCgroup(t *testing.T) cgroup {
	t.Helper()
	for _, limit := range []string{"/sys/fs/cgroup/memory/%s/memory.limit_in_bytes", "/sys/fs/cgroup/%s/memory.max"} {
		file := fmt.Sprintf(limit, fmt.Sprintf("podverdict-tenants-%d", os.Getpid()))
		folder := filepath.Dir(file)
		if os.Mkdir(folder, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if _, err := os.Stat(file); err != nil {
			continue // a folder like any other
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(memoryLimit)), 0o644); err == nil {
			t.Logf("the controller has %d MiB of memory in %s", memoryLimit>>20, folder)
			return cgroup(folder)
		}
	}
	t.Logf("there is no cgroup for the controller: it is killed when more than %d MiB are resident", memoryLimit>>20)
	return ""
}

// launcher runs a program in the cgroup.
func (c cgroup) launcher() []string {
	if c == "" {
		return nil
	}
	return []string{"/bin/sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, string(c)}
}

// watch does without a cgroup what it does.
func (c cgroup) watch(r *installed.Replica) {
	if c != "" {
		return
	}
	go func() {
		for ticker := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-r.Ended:
				return
			case <-ticker.C:
			}
			if rss, _, err := memoryOf(r); err == nil && rss > memoryLimit {
				_ = r.Process.Kill() // as the kernel does
			}
		}
	}()
}

// memoryOf returns what is resident of a replica now, and the most that was since forgetPeak, in bytes.
func memoryOf(r *installed.Replica) (now, peak int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		var into *int
		switch {
		case strings.HasPrefix(line, "VmRSS:"):
			into = &now
		case strings.HasPrefix(line, "VmHWM:"):
			into = &peak
		default:
			continue
		}
		kilobytes, err := strconv.Atoi(strings.Fields(line)[1])
		if err != nil {
			return 0, 0, err
		}
		*into = kilobytes << 10
	}
	if now == 0 {
		return 0, 0, errors.New("there is no process")
	}
	return now, peak, nil
}

func forgetPeak(r *installed.Replica) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", r.Process.Pid), []byte("5"), 0) // else the peak is of all attacks so far
}
