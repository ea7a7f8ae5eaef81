// Package terminal makes the text of others fit to be shown to a person: names in
// manifests, and what foreign engines say, must not move the cursor, change colours or
// look like lines of ours.
package terminal
