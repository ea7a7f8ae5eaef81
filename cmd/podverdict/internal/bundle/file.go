package bundle

import (
	"errors"
	"os"
	"path/filepath"
)

// FileName is what an archive is called in a folder, as OPA calls it.
const FileName = "bundle.tar.gz"

// WriteFile writes the archive to a file, or as FileName into a folder, and returns the file's name. A name that ends
// with a slash is a folder, which is made if it is not there. The file is there whole or not at all.
func (b *Bundle) WriteFile(name string) (string, error) {
	if name != "" && os.IsPathSeparator(name[len(name)-1]) {
		if err := os.MkdirAll(name, 0o755); err != nil { //nolint:gosec // as open as mkdir makes it, for what is no secret
			return "", errUnwritable(name, unnamed(err))
		}
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, FileName)
	}
	if err := replace(name, b.Archive); err != nil {
		return "", errUnwritable(name, err)
	}
	return name, nil
}

func replace(name string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return unnamed(err)
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close())
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
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
