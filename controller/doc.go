// Package controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and tells the verdicts on the failed
// pods of all others.
//
//	c, err := controller.New(controller.Options{Config: config, Observe: true})
//	err = controller.Elect(ctx, election, c.Run)
//
// What is done is decided by package plan. This package keeps the caches, calls plan.Next, and carries the Plan out:
//
//	informers ──► queue ──► reconciler.sync: observe ──► plan.Next ──► apply ──► API server
//	                             ▲                                       │
//	                             └──────────── recollection ◄────────────┘
//
// A recollection is what the program knows of a Job before its caches show it: the Job and the pods as the API server
// returned them from a write. An observation takes the newer of the two, so it never goes back, and contains every pod that
// the program has created. There is nothing else to remember: names of pods are a function of Job, slot and attempt, so
// creating a pod twice is creating it once, and a program that starts anew needs nothing but a list of what there is.
//
// # Calls
//
// A pod takes two calls, as upstream: its creation and the removal of its finalizer. The second comes when there is nothing
// better to call for, so that while calls are scarce a pod that fails costs one, the creation of its replacement. Counters are
// written at most once a batch period while pods are being created, and a few times as often
// when nothing else is to be done; conditions are written at once.
//
// # Tenants
//
// Whatever is worked on one after the other is shared by namespaces, in turns: Jobs, orphans, pods to be judged, events, pods that
// do not start, and calls of the API server. The next turn is that of the namespace that has used the least time. A queue
// has one worker more than asked for, which is for a namespace that has none.
//
// What is remembered of an object has a bound, and goes with the object. Texts that a tenant writes are cut before they are kept.
//
// # Caches
//
// The caches keep of a pod what plan and podFailurePolicies read, and of a Job that others run all but its template; and what the
// custom policies in force read, of the pods and Jobs that their rules may be asked about. When these come to read more, Jobs and
// pods are listed anew. Each object has a mark that says what it was trimmed to (keeping), and rules are not asked about one that
// lacks something that any of them reads. They are looked up first, then the mark, because what they read is kept before they
// are in force. Nothing is dropped that some rules were to read: a pod is judged by those that were in force when it failed.
// Policies are read before anything else.
//
// # Panics
//
// A panic over one object is caught where its work begins, and is an error of that work: it is counted, logged, told as an event of
// the Job, and tried again after a delay.
//
// # Errors
//
// A write that fails because its object has changed is left to the next Plan. Other errors delay the Job exponentially,
// from 200 ms to a minute, and the ones that a user can do something about are told as events of the Job. Events of its pods
// shorten that to a batch period, and what is due by the clock does not wait for it. After a creation that failed the next one
// is tried alone. While the outcome of a creation is not known, because the connection broke or the server took too long, the
// pod is looked for, the Job does not end, and no other pod of it is created.
package controller
