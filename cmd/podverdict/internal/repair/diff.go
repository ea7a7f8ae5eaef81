package repair

import (
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns how a file changes, as patch and git apply take it. It is empty where nothing does. An absolute path loses the
// slash that it begins with, as in git: patch -p1 -d / applies the diff.
func Diff(file, before, after string) string {
	name := strings.TrimPrefix(filepath.ToSlash(file), "/")
	return string(diff.Diff("a/"+name, []byte(before), "b/"+name, []byte(after)))
}
