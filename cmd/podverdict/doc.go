// Command podverdict explains the consequences of failed Pods for their Jobs. It is also the kubectl plugin "kubectl
// podverdict" if its file is named kubectl-podverdict.
//
// Every command is a package below internal. Its function New defines the flags and is the only part that uses cobra. Its
// function run does the work, given a context, a console, the options and the arguments. Commands that judge Pods share
// internal/verdicts. Code shared by all commands is in internal/cli and internal/print.
//
// A command writes its complete result into a buffer. The buffer is written to standard output only if the command succeeds, so
// that bad input never leaves partial output. Only engine, eval --watch and test write as they go.
//
// Exit codes are stable: 0 is success, 1 means findings or a failed expectation, and 2 is a usage, input, output or compile
// error.
package main
