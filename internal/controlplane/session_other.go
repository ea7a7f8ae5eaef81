//go:build !unix

package controlplane

import "syscall"

// These signals hold a process, and have it go on, but where there are none the system refuses them.
const pause, resume = syscall.Signal(19), syscall.Signal(18)

// ownSession does nothing where there are no sessions.
func ownSession() *syscall.SysProcAttr { return nil }
