// Package controller runs the Jobs whose spec.managedBy is podverdict.io/job-controller, and records the verdicts on
// the failed pods of all other Jobs.
//
//	c, err := controller.New(controller.Options{Config: config, Observe: true})
//	err = leadership.Elect(ctx, election, c.Run)
//
// It creates the clients and the caches, and passes changes in the caches to its loops. Each loop is a package that
// imports no other loop:
//
//	running    managed Jobs: calls plan.Kept.Next and carries out its Plan
//	observing  failed pods: verdicts, their events and metrics
//	living     rules on pods that have not ended
//	policies   the rules in effect, and the errors in them
//
// Every loop has Options, New, Run and handlers for the changes that it processes. It calls other loops only through
// functions in its Options. The loops share the packages caches, fair (queues and rate limits that are fair to
// namespaces), recorder (events) and metrics. Decisions are functions without I/O, in packages plan, runtime and
// runtime/binding.
//
// # Tenants
//
// Namespaces are served in turn wherever work is done one item after the other: Jobs, orphans, pods to evaluate,
// events, living pods, and calls to the API server (package fair).
//
// The memory used for an object is limited, and freed with the object. Text written by tenants is truncated before it
// is stored.
//
// # Panics
//
// metrics.Guard recovers from a panic where the work on an object begins, and converts it to an error. The error is
// counted, logged and recorded as an event of the Job, and the work is retried after a delay.
package controller
