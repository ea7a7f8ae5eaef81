package admission

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// errUnknownRule reports that no rule has an id or matches a pattern.
func errUnknownRule(id string, known []string) error {
	return fmt.Errorf("no rule %q%s", id, didyoumean.Near(id, known))
}

// Mistake is one mistake in a configuration.
type Mistake struct {
	// Path is the path of the rule or setting: G-TTL.max.
	Path string
	// Message describes the mistake, as in "must be a whole number, 0 or
	// more".
	Message string
}

// ConfigurationError lists all mistakes in a configuration.
type ConfigurationError []Mistake

func (e ConfigurationError) Error() string {
	all := make([]string, len(e))
	for i, m := range e {
		all[i] = m.Path + ": " + m.Message
	}
	return strings.Join(all, "\n")
}
