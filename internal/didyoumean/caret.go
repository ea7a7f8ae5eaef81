package didyoumean

import "strings"

// Caret returns a line of text with a caret below a column, counted from 0, in the style of CEL's errors.
func Caret(line string, column int) string {
	return " | " + line + "\n | " + strings.Repeat(".", column) + "^"
}
