// Command podverdict-controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and tells the verdicts on
// the failed pods of all others. Package controller does the work; this one has the flags, and starts and stops it.
//
// The replica that holds the lease works. The others wait, and are ready all the same: otherwise a rollout would not go on.
//
// Exit codes: 0 after SIGTERM or SIGINT, when all calls have ended and the lease is released; 1 when the work cannot go on,
// as after the loss of the lease; 2 when it could not begin, because of a flag, the kubeconfig or an address in use.
package main
