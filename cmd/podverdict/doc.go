// Command podverdict says what failed Pods mean for their Jobs, and why. It is also the kubectl plugin "kubectl
// podverdict", when its file is named kubectl-podverdict.
//
// Every verb is one file, and flags live only here. A verb writes its whole result into a buffer; run writes that to
// standard output once the verb has ended well, so that bad input never leaves half a result. Only engine, which is a
// conversation, writes as it goes.
//
// Exit codes are a contract: 0 is fine, 1 means findings or a failed expectation, 2 a usage, input, output or compile
// error.
package main
