package hint

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Names longer than maxLength, and names after the first maxKnown, are not compared: that takes
// the product of their lengths, and nobody remembers them.
const (
	maxLength = 100
	maxKnown  = 1000
)

// Name returns the one of the names that the author of a wrong one probably meant, or an
// empty string. About a third of the letters may be different, or all of them are the same in
// another order. Of names that are equally near, it is the first in the alphabet.
func Name(wrong string, names []string) string {
	best, nearest := "", math.MaxInt
	for _, name := range names[:min(len(names), maxKnown)] {
		longer := max(len(wrong), len(name))
		if longer > maxLength {
			continue
		}
		d := distance(strings.ToLower(wrong), strings.ToLower(name))
		if d <= (longer+1)/3 && (d < nearest || d == nearest && name < best) {
			best, nearest = name, d
		}
	}
	return best
}

// distance returns how many letters must be added, removed or changed to make one name of
// the other. Letters in another order are one mistake.
func distance(a, b string) int {
	if a != b && slices.Equal(sortedLetters(a), sortedLetters(b)) {
		return 1
	}
	return levenshtein.ComputeDistance(a, b)
}

func sortedLetters(name string) []byte {
	letters := []byte(name)
	slices.Sort(letters)
	return letters
}

// maxNames is how many names Names lists when none is near what was written.
const maxNames = 12

// Names returns the question whether the author of a wrong name meant one of the names, or
// which names there are. It is empty where there are none or too many. The prefix is written
// before each name.
func Names(wrong string, names []string, prefix string) string {
	if name := Name(wrong, names); name != "" {
		return DidYouMean(prefix + name)
	}
	if len(names) == 0 || len(names) > maxNames {
		return ""
	}
	return "there are " + prefix + strings.Join(names, ", "+prefix)
}

// DidYouMean returns the question whether the author meant a name.
func DidYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

// Meant returns the name that a question of DidYouMean asks for, or an empty string.
func Meant(question string) (name string) {
	if _, err := fmt.Sscanf(question, "did you mean %q?", &name); err != nil {
		return ""
	}
	return name
}
