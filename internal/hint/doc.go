// Package hint finds out what authors of policies and expressions probably meant, and shows
// them where in a line a mistake is.
package hint
