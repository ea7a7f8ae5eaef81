// Package hint helps authors to their mistakes: which name they may have meant, and
// where in a line the mistake is.
package hint
