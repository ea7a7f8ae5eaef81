package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is where files are read: anywhere, or within a folder that neither .. nor a symbolic link leads out of.
type disk struct{ root *os.Root }

func (d disk) stat(name string) (fs.FileInfo, error) {
	if d.root == nil {
		return os.Stat(name)
	}
	inside, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	info, err := d.root.Stat(inside)
	return info, d.outside(err)
}

func (d disk) open(name string) (*os.File, error) {
	if d.root == nil {
		return os.Open(name)
	}
	inside, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	file, err := d.root.Open(inside)
	return file, d.outside(err)
}

// outside turns the error of os.Root about a symbolic link that leads out, which names nothing, into ErrOutside.
func (d disk) outside(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Err.Error() == "path escapes from parent" {
		return errOutside(d.root.Name())
	}
	return err
}

// walk visits a directory and all below it, whose paths begin with its name.
func (d disk) walk(dir string, visit fs.WalkDirFunc) error {
	if d.root == nil {
		return filepath.WalkDir(dir, visit)
	}
	inside, err := d.inside(dir)
	if err != nil {
		return err
	}
	return fs.WalkDir(d.root.FS(), filepath.ToSlash(inside), func(path string, entry fs.DirEntry, err error) error {
		below, failure := filepath.Rel(inside, filepath.FromSlash(path))
		if failure != nil {
			return failure
		}
		if below == "." {
			return visit(dir, entry, err)
		}
		return visit(filepath.Join(dir, below), entry, err)
	})
}

// inside returns the name of a file relative to the root.
func (d disk) inside(name string) (string, error) {
	root, err := filepath.Abs(d.root.Name())
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(root, path)
	if err == nil && !filepath.IsLocal(inside) {
		err = errOutside(d.root.Name())
	}
	return inside, err
}
