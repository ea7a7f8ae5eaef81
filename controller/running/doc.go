// Package running runs managed Jobs: those whose spec.managedBy is podverdict.io/job-controller (KEP-4368). Package plan
// decides what to do. This one observes, calls plan.Next, and carries the Plan out:
//
//	caches ──► queue ──► reconciler.sync: observe ──► plan.Next ──► apply ──► API server
//	                          ▲                                       │
//	                          └────────────── jobState ◄──────────────┘
//
// A jobState is what the program knows of a Job before its caches show it: the Job and the pods as the API server
// returned them from a write. An observation takes the newer of the two, so it never goes back, and contains every pod that
// the program has created. Nothing else needs to be remembered: names of pods are a function of Job, slot and attempt, so
// creating a pod twice is creating it once, and a program that restarts needs only a list of what exists.
// Upstream's controller (pkg/controller/job) counts expectations instead.
//
// # Calls
//
// A pod takes two calls, as upstream: its creation and the removal of its finalizer. The second comes when there is nothing
// better to call for, so that while calls are scarce a pod that fails costs one, the creation of its replacement. Counters are
// written at most once a batch period while pods are being created, and a few times as often
// when nothing else is to be done; conditions are written at once.
//
// # Errors
//
// A write that fails because its object has changed is left to the next Plan. Other errors delay the Job exponentially,
// from 200 ms to a minute, and the ones that a user can do something about become events of the Job. Events of its pods
// shorten that to a batch period, and what is due by the clock does not wait for it. After a creation that failed the next one
// is tried alone. While the outcome of a creation is not known, because the connection broke or the server took too long, the
// pod is looked for, the Job does not end, and no other pod of it is created.
package running
