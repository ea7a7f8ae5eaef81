// Package cli has the parts that all verbs of podverdict share: the console, the flags that several verbs have, errors
// with exit codes, shell completion, and help.
package cli
