// Command podverdict-controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and records the verdicts
// on the failed pods of all other Jobs. Package controller does the work; the command parses flags, starts and stops it.
//
// Only the replica that holds the lease works. The other replicas wait, but report ready: otherwise a rollout would not
// proceed.
//
// Exit codes: 0 after SIGTERM or SIGINT, when all calls have ended and the lease is released; 1 if the controller cannot
// continue, for example after it lost the lease; 2 if it cannot start, because of a flag, the kubeconfig or an address in
// use.
package main
