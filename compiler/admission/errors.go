package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func errNameTaken(name, text string) error {
	return fmt.Errorf("the loop variable or variable %s hides another name: %s", name, text)
}

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	// Path leads to the rule's id, or to the setting that is wrong.
	Path []string
	// Message says what is wrong, as in "must be a whole number, 0 or more".
	Message string
	// Hint is the name that was probably meant, or empty.
	Hint string
}

func (m Mistake) String() string {
	text := strings.Join(m.Path, ".") + ": " + m.Message
	if m.Hint != "" {
		text += fmt.Sprintf(", did you mean %q?", m.Hint)
	}
	return text
}

// ConfigurationError lists everything that is wrong with a configuration.
type ConfigurationError struct {
	Mistakes []Mistake
}

func (e *ConfigurationError) Error() string {
	all := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		all[i] = m.String()
	}
	return strings.Join(all, "\n")
}

// UnknownRuleError says that no rule has an id, or matches a pattern.
type UnknownRuleError struct {
	ID string
	// Hint is the id that was probably meant, or empty.
	Hint string
}

func (e *UnknownRuleError) Error() string {
	text := fmt.Sprintf("no rule %q", e.ID)
	if e.Hint != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Hint)
	}
	return text
}

// DefaultsError lists the defaults that no Job could have. Paths begin with spec.
type DefaultsError struct {
	Errors field.ErrorList
}

func (e *DefaultsError) Error() string { return e.Errors.ToAggregate().Error() }
