//go:build cluster

package tenants

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// memoryLimit is the memory limit of the Deployment's container.
const memoryLimit = 1 << 30

// limitMemory kills a replica whose resident memory exceeds the limit, like the kernel in a cgroup.
func limitMemory(r *testcluster.Replica) {
	go func() {
		for ticker := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-r.Ended:
				return
			case <-ticker.C:
			}
			if rss, _, err := memoryOf(r); err == nil && rss > memoryLimit {
				_ = r.Process.Kill() // it may have ended
			}
		}
	}()
}

// memoryOf returns the resident memory of a replica, and its peak since forgetPeak, in bytes.
func memoryOf(r *testcluster.Replica) (now, peak int, err error) {
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

func forgetPeak(r *testcluster.Replica) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", r.Process.Pid), []byte("5"), 0) // else the peak includes earlier attacks
}
