// Package terminal makes untrusted text safe to print, so that names in manifests and output of other engines cannot
// move the cursor, change colours or imitate output of podverdict.
package terminal
