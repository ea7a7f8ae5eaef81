//go:build unix

package controlplane

import "syscall"

// These signals hold a process, and have it go on.
const pause, resume = syscall.SIGSTOP, syscall.SIGCONT

// ownSession keeps signals to the terminal and to the process group of the tests from the
// supervisor.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
