// Command podverdict-controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and records the verdicts
// on the failed pods of all others. Package controller does the work; this one parses flags, starts and stops.
//
// The replica that holds the lease works. The others wait, but report ready: otherwise a rollout would not proceed.
//
// Exit codes: 0 after SIGTERM or SIGINT, when all calls have ended and the lease is released; 1 if the work cannot go on, as
// after losing the lease; 2 if it cannot begin, because of a flag, the kubeconfig or an address in use.
package main
