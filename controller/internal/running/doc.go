// Package running runs managed Jobs: those whose spec.managedBy is podverdict.io/job-controller (KEP-4368). Package plan
// decides what to do. This package observes, calls plan.Kept.Next and carries out the Plan:
//
//	caches ──► queue ──► reconciler.sync: observe ──► Kept.Next ──► apply ──► API server
//	                          ▲                                       │
//	                          └────────────── jobState ◄──────────────┘
//
// A jobState holds a Job and its pods as the API server returned them from writes, until the caches show them. An observation
// takes the newer of the two, so it never goes back in time and contains every pod that the program has created. What follows from
// pods that have not changed is kept to save time. Nothing else has to be remembered: pod names are a function of Job, slot and attempt, so creating a pod twice creates it once, and after
// a restart a list of what exists is enough. Upstream's controller (pkg/controller/job) counts expectations instead.
//
// # Calls
//
// A pod takes two calls, as upstream: its creation and the removal of its finalizer. The removal waits until no other calls
// are needed, so that under the rate limit a failed pod costs only one call, the creation of its replacement. Counters are
// written at most once a batch period while pods are created, and a few times as often otherwise; conditions are written at
// once.
//
// # Errors
//
// If a write fails because its object has changed, the next Plan handles it. Other errors delay the Job exponentially, from
// 200 ms to a minute; those that a user can fix become events of the Job. Changes of its pods shorten the delay to a batch
// period, and deadlines do not wait for it. After a failed creation only one pod is created at a time. While the outcome of a
// creation is unknown, because the connection broke or the server took too long, the pod is looked up, the Job does not end,
// and no other pod of it is created.
package running
