package bundle

import (
	"os"
	"path/filepath"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/wholefile"
)

// FileName is what an archive is called in a folder, as OPA calls it.
const FileName = "bundle.tar.gz"

// WriteFile writes the archive to a file, or as FileName into a folder, and returns the file's name. A name that ends
// with a slash is a folder, which is made if it is not there. The file is there whole or not at all.
func (b *Bundle) WriteFile(name string) (string, error) {
	if name != "" && os.IsPathSeparator(name[len(name)-1]) {
		if err := os.MkdirAll(name, 0o755); err != nil { //nolint:gosec // as open as mkdir makes it, for what is no secret
			return "", err
		}
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, FileName)
	}
	return name, wholefile.Write(name, b.Archive)
}
