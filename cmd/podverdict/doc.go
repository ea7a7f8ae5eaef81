// Command podverdict says what failed Pods mean for their Jobs, and why. It is also the kubectl plugin "kubectl
// podverdict", when its file is named kubectl-podverdict.
//
// Every verb is a package below internal. Its function New makes the flags, and is the only part that knows cobra; run does the
// work, with a context, a console, the options and the arguments. Verbs that judge Pods share internal/verdicts; what all verbs
// share is in internal/cli and internal/print.
//
// A verb writes its whole result into a buffer. run writes the buffer to standard output once the verb has ended well, so
// that bad input never leaves half a result. Only engine, eval --watch and test write as they go.
//
// Exit codes are a contract: 0 is fine, 1 means findings or a failed expectation, 2 a usage, input, output or compile
// error.
package main
