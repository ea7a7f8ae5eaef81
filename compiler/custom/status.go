package custom

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// TypeChecking returns findings as a policy's status has them: errors first, and cut to
// what a status may hold. It returns nil when there are none.
func TypeChecking(findings []compiler.Finding) *v1alpha1.TypeChecking {
	if len(findings) == 0 {
		return nil
	}
	checking := &v1alpha1.TypeChecking{}
	for _, errors := range []bool{true, false} {
		for _, f := range findings {
			if isError(f) == errors && len(checking.Findings) < v1alpha1.MaxFindings {
				checking.Findings = append(checking.Findings, v1alpha1.Finding{
					Rule: f.RuleName, Field: f.Field, Message: cut(strings.TrimPrefix(f.String(), f.Field+":"), v1alpha1.MaxFindingMessage),
				})
			}
		}
	}
	if more := len(findings) - v1alpha1.MaxFindings; more > 0 {
		last := &checking.Findings[v1alpha1.MaxFindings-1]
		last.Message = cut(last.Message, v1alpha1.MaxFindingMessage/2) + fmt.Sprintf("\nand %d more findings, in all fields", more)
	}
	return checking
}

// maxQuoted is how many characters of an expression a sentence quotes.
const maxQuoted = 120

// brief returns an expression as a sentence quotes it.
func brief(text string) string { return cut(text, maxQuoted) }

// cut shortens a text to so many characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-3]) + "..."
	}
	return text
}
