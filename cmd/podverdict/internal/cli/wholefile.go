package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile creates a file or replaces its content atomically: after a failure of the disk or the program the old content remains. It
// writes in place only where the user may not create files, and on a mount of a single file. An existing file keeps its mode and owner,
// and a symbolic link remains a link. Pipes and devices are written to. The error names the file.
func WriteFile(name string, data []byte) error {
	if err := write(name, data); err != nil {
		return fmt.Errorf("%s: cannot write: %w", name, unnamed(err))
	}
	return nil
}

func write(name string, data []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	there, err := os.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return replace(name, data, 0o644, nil)
	}
	if err != nil {
		return err
	}
	info, err := there.Stat()
	if err == nil && !info.Mode().IsRegular() {
		_, err = there.Write(data)
		return errors.Join(err, there.Close())
	}
	if err := errors.Join(err, there.Close()); err != nil {
		return err
	}
	err = replace(name, data, info.Mode().Perm(), info)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) { // a folder of another user, or a mount of this one file
		return os.WriteFile(name, data, 0)
	}
	return err
}

// replace renames a new file over the old one. The new file gets the old owner if the user may change owners.
func replace(name string, data []byte, mode fs.FileMode, old fs.FileInfo) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	keepOwner(temporary, old)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(unnamed(err), os.Remove(temporary.Name()))
	}
	return nil
}

// unnamed returns an error without the name of the temporary file, which users do not know.
func unnamed(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
