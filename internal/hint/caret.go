package hint

import "strings"

// Caret returns a line of text with a caret below one of its columns, which counts from
// 0, in the manner of CEL's errors.
func Caret(line string, column int) string {
	return " | " + line + "\n | " + strings.Repeat(".", column) + "^"
}
