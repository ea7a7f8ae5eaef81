//go:build !unix

package controlplane

import "syscall"

// ownSession does nothing where there are no sessions.
func ownSession() *syscall.SysProcAttr { return nil }
