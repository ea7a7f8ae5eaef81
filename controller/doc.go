// Package controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and records the verdicts on the failed
// pods of all others.
//
//	c, err := controller.New(controller.Options{Config: config, Observe: true})
//	err = leadership.Elect(ctx, election, c.Run)
//
// It makes the clients and the caches, and passes on what these show to its loops, of which each is a package that knows nothing of
// the others:
//
//	running    managed Jobs: plan.Next, and how its Plan is carried out
//	observing  failed pods: verdicts, their events and metrics
//	pending    pods that do not start
//	policies   which rules are in force, and what is wrong with them
//
// A loop has Options, New, Run and the handlers of the changes that concern it. A function in its Options is all that it knows of
// another loop. The loops share caches, fair (queues and calls, in turns by namespaces), recorder (events) and metrics. Decisions
// are functions without I/O, in packages plan, runtime and runtime/binding.
//
// # Tenants
//
// Namespaces share, in turns, everything that is done one after the other: Jobs, orphans, pods to be judged, events, pods that do
// not start, and calls of the API server (package fair).
//
// The memory of an object has a bound, and goes with the object. Texts that a tenant writes are cut before they are kept.
//
// # Panics
//
// A panic over one object is caught where its work begins, and is an error of that work (metrics.Guard): it is counted, logged,
// recorded as an event of the Job, and tried again after a delay.
package controller
