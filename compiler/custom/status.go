package custom

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// TypeChecking converts findings to the form of a policy's status: errors first, truncated to the
// limits of a status. It returns nil if there are no findings.
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

// maxQuoted is the maximum number of characters of an expression that a message quotes.
const maxQuoted = 120

// brief shortens an expression for quoting in a message.
func brief(text string) string { return cut(text, maxQuoted) }

// cut truncates a text to n characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-3]) + "..."
	}
	return text
}
