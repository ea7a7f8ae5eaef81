package failure

import (
	"fmt"
	"strconv"
)

// The kinds of init containers.
const (
	kindInit    = "init"
	kindSidecar = "sidecar"
)

// String describes how the container failed, or why it waits. It returns "" if the container ended with exit code 0.
func (c *Container) String() string {
	name := c.Name
	switch c.Kind {
	case kindInit:
		name = "init container " + name
	case kindSidecar:
		name = "sidecar " + name
	}
	var text string
	switch {
	case c.ExitCode == nil && (c.Reason == "PodInitializing" || c.Reason == "ContainerCreating"):
		return "" // every container that ends passes through these
	case c.ExitCode == nil:
		text = name + " waits: " + c.Reason
	case *c.ExitCode == 0:
		return ""
	case c.Reason == "" || c.Reason == "Error":
		text = with(fmt.Sprintf("%s exited with %d", name, *c.ExitCode), signals[*c.ExitCode])
	default:
		text = with(name+" "+c.Reason, strconv.Itoa(int(*c.ExitCode)))
	}
	switch {
	case c.Restarts == 1:
		text += " and restarted once"
	case c.Restarts > 1:
		text += fmt.Sprintf(" and restarted %d times", c.Restarts)
	}
	return text
}

// stopped reports whether the container's exit is one that a kubelet causes when it ends a pod.
func (c *Container) stopped() bool {
	return c.ExitCode != nil && (*c.ExitCode == 128+9 || *c.ExitCode == 128+15) && c.Reason != "OOMKilled"
}

// signals maps exit codes over 128 to signals, as shells and container runtimes use them: the signal ended the container,
// unless the program itself uses the code.
var signals = map[int32]string{
	128 + 1: "SIGHUP", 128 + 2: "SIGINT", 128 + 3: "SIGQUIT", 128 + 4: "SIGILL", 128 + 6: "SIGABRT", 128 + 7: "SIGBUS",
	128 + 8: "SIGFPE", 128 + 9: "SIGKILL", 128 + 11: "SIGSEGV", 128 + 13: "SIGPIPE", 128 + 15: "SIGTERM",
}
