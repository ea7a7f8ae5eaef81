package admission

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// errUnknownRule says that no rule has an id, or matches a pattern.
func errUnknownRule(id string, known []string) error {
	return fmt.Errorf("no rule %q%s", id, didyoumean.Near(id, known))
}

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	// Path leads to the rule, or to its setting that is wrong: G-TTL.max.
	Path string
	// Message says what is wrong, as in "must be a whole number, 0 or more".
	Message string
}

// ConfigurationError lists everything that is wrong with a configuration.
type ConfigurationError []Mistake

func (e ConfigurationError) Error() string {
	all := make([]string, len(e))
	for i, m := range e {
		all[i] = m.Path + ": " + m.Message
	}
	return strings.Join(all, "\n")
}
