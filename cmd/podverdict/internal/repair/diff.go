package repair

import "github.com/rogpeppe/go-internal/diff"

// Diff returns how a file changes, as patch and git apply take it. It is empty where nothing does.
func Diff(file, before, after string) string {
	return string(diff.Diff("a/"+file, []byte(before), "b/"+file, []byte(after)))
}
