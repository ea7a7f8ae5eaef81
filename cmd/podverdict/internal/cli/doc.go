// Package cli contains the parts that all verbs of podverdict share: the console, common flags, errors with exit codes, shell completion,
// and help.
package cli
