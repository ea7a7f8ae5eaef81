//go:build unix

package controlplane

import "syscall"

// ownSession keeps signals to the terminal and to the process group of the tests from the
// supervisor.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
