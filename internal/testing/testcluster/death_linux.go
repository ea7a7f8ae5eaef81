package testcluster

import (
	"os/exec"
	"syscall"
)

// DieWithTest makes the kernel kill the command when the test's process has ended, in whatever way.
func DieWithTest(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
