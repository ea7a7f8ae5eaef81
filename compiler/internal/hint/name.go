package hint

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name is the one of the names that somebody may have meant who wrote a wrong one, or
// empty. It has something of what was written.
func Name(wrong string, names []string) string {
	best, distance := "", max(2, len(wrong)/3)+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(wrong), strings.ToLower(n)); d < distance && d < len(n) {
			best, distance = n, d
		}
	}
	return best
}
