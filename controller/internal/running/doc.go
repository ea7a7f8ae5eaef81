// Package running runs managed Jobs: Jobs whose spec.managedBy is podverdict.io/job-controller (KEP-4368). Package plan decides what to do.
// This package observes, calls plan.Kept.Next and carries out the Plan:
//
//	caches ──► queue ──► reconciler.sync: observe ──► Kept.Next ──► apply ──► API server
//	                          ▲                                       │
//	                          └────────────── jobState ◄──────────────┘
//
// A jobState holds a Job and its pods as returned by writes to the API server, until the caches include them. An observation uses the newer
// of the two, so it never goes back in time and contains every pod that the program has created. State derived from unchanged pods is
// cached to save time. No other state is needed: pod names are a function of Job, slot and attempt, so creating a pod twice creates it
// once, and after a restart a list of the existing objects is enough. Upstream's controller (pkg/controller/job) counts expectations
// instead.
//
// # Calls
//
// A pod needs two calls, as upstream: its creation and the removal of its finalizer. The removal waits until no other calls are needed, so
// that under the rate limit a failed pod costs only one call, the creation of its replacement. Counters are written at most once per batch
// period while pods are created, and a few times as often otherwise. Conditions are written immediately.
//
// # Errors
//
// If a write fails because its object has changed, the next Plan handles it. Other errors delay the Job exponentially, from 200 ms to a
// minute. Errors that a user can fix become events of the Job. Changes of its pods shorten the delay to a batch period, and deadlines do
// not wait for it. After a failed creation, only one pod is created at a time. While the outcome of a creation is unknown, because the
// connection broke or the server was too slow, the pod is looked up, the Job does not end, and no other pod of the Job is created.
package running
