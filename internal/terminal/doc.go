// Package terminal makes untrusted text safe to print: names in manifests and output of other engines must not move the
// cursor, change colours or look like output of podverdict.
package terminal
