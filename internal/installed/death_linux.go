package installed

import (
	"os/exec"
	"syscall"
)

// dieWithTest has the kernel kill the command when the process of the test has ended, in whatever way.
func dieWithTest(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
