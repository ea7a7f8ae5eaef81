package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// open opens a file or a directory: anywhere, or only within Root, if set. Neither .. nor a symbolic link leads out of Root.
func (o Options) open(name string) (*os.File, error) {
	if o.Root == nil {
		return os.Open(name)
	}
	root, errRoot := filepath.Abs(o.Root.Name())
	path, err := filepath.Abs(name)
	if err := errors.Join(errRoot, err); err != nil {
		return nil, err
	}
	inside, err := filepath.Rel(root, path)
	if err == nil && !filepath.IsLocal(inside) {
		err = errOutside(o.Root.Name())
	}
	if err != nil {
		return nil, err
	}
	file, err := o.Root.Open(inside)
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Err.Error() == "path escapes from parent" { // a link out of Root
		err = errOutside(o.Root.Name())
	}
	return file, err
}
