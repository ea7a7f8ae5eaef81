package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// UnknownName returns a message for an unknown name, with similar or known names.
func UnknownName(what, name string, known []string) string {
	text := fmt.Sprintf("there is no %s %q", what, name)
	switch near := didyoumean.Name(name, known); {
	case near != "":
		text += ", did you mean " + near + "?"
	case len(known) > 0 && len(known) <= maxListed:
		text += ", there are: " + strings.Join(known, ", ")
	default:
		parts := slices.DeleteFunc(slices.Clone(known), func(other string) bool { return !strings.Contains(other, name) })
		if len(parts) > 0 && len(parts) <= maxListed && name != "" {
			text += ", there are: " + strings.Join(parts, ", ")
		}
	}
	return text
}

// maxListed is the maximum number of names that a message lists.
const maxListed = 30
