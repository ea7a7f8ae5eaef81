package controlplane

import (
	"errors"
	"os"
	"path/filepath"
)

// A log is what a process prints.
type log struct {
	name string
	file *os.File
}

func openLog(folder, name string) (log, error) {
	file, err := os.Create(filepath.Join(folder, name+".log"))
	return log{name: name, file: file}, err
}

// close closes our copy of the file; the process has its own.
func (l log) close() { _ = l.file.Close() }

// with adds the end of the log to an error.
func (l log) with(err error) error {
	if err == nil {
		return nil
	}
	text, failure := os.ReadFile(l.file.Name())
	return errors.Join(errLogged(l.name, err, string(text)), failure)
}
