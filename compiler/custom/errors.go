package custom

import (
	"slices"
	"strings"

	"github.com/podverdict/podverdict/compiler"
)

// Error holds all findings of a policy that does not compile, including warnings, in field order.
type Error struct {
	Findings []compiler.Finding
}

func (e *Error) Error() string {
	var text []string
	for _, f := range e.Findings {
		if f.Severity == compiler.Error {
			text = append(text, f.String())
		}
	}
	return strings.Join(text, "\n")
}

func isError(f compiler.Finding) bool { return f.Severity == compiler.Error }

func hasErrors(findings []compiler.Finding) bool { return slices.ContainsFunc(findings, isError) }
