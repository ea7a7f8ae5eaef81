package testcluster

import (
	"os/exec"
	"syscall"
)

// DieWithTest has the kernel kill the command when the process of the test has ended, in whatever way.
func DieWithTest(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
