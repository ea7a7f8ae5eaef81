package custom

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxNames is how many names a hint lists when none is near what was written.
const maxNames = 12

// hintName is which of the names may have been meant, or which there are if they are
// few.
func hintName(wrong string, names []string, written func(string) string) string {
	if name := nearest(wrong, names); name != "" {
		return didYouMean(written(name))
	}
	if len(names) == 0 || len(names) > maxNames {
		return ""
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = written(n)
	}
	return "there are " + strings.Join(all, ", ")
}

func asIs(name string) string { return name }

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

// nearest is the name that somebody may have meant who wrote a wrong one, or empty.
// It has something of what was written.
func nearest(wrong string, names []string) string {
	best, distance := "", max(2, len(wrong)/3)+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(wrong), strings.ToLower(n)); d < distance && d < len(n) && d < max(len(wrong), 2) {
			best, distance = n, d
		}
	}
	return best
}
