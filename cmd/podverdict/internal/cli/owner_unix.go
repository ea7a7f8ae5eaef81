//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of an old one, which may be nil: root repairs other users' files, for example in a container.
func keepOwner(file *os.File, old fs.FileInfo) {
	if old == nil {
		return
	}
	if stat, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(stat.Uid), int(stat.Gid)) // only root may change the owner, and only root needs to
	}
}
