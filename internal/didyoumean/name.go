package didyoumean

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Names longer than maxLength, and names after the first maxKnown, are not compared, which bounds the time of a comparison.
const (
	maxLength = 100
	maxKnown  = 1000
)

// Name returns the name that the author of a wrong one probably meant, or "". About a third of the letters may differ, or
// all letters may be the same in another order. Of equally similar names it returns the first in alphabetical order.
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

// distance returns the number of letters to add, remove or change to turn one name into the other. The same letters in
// another order count as one mistake.
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

// maxNames is the maximum number of names that Names lists if none is similar.
const maxNames = 16

// Names returns a question whether the author of a wrong name meant a similar one, or else a list of the names. It returns
// "" if the list is empty or too long. The prefix is written before each name.
func Names(wrong string, names []string, prefix string) string {
	if name := Name(wrong, names); name != "" {
		return DidYouMean(prefix + name)
	}
	if len(names) == 0 || len(names) > maxNames {
		return ""
	}
	return "there are " + prefix + strings.Join(names, ", "+prefix)
}

// DidYouMean returns a question that suggests a name.
func DidYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

// Near returns a question that suggests a similar name, formatted for the end of a message, or "".
func Near(wrong string, names []string) string {
	if name := Name(wrong, names); name != "" {
		return ", " + DidYouMean(name)
	}
	return ""
}

// Meant returns the name in a question from DidYouMean, or "" if the text is not such a question.
func Meant(question string) (name string) {
	if _, err := fmt.Sscanf(question, "did you mean %q?", &name); err != nil {
		return ""
	}
	return name
}
