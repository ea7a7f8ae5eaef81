// Package snapshot defines the Snapshot of a Job: the Job, its Pods and everything that verdicts on them depend on, at one point in
// time. Snapshots are created from files, a cluster, the controller's caches, or the arguments of the public engine, and read by
// pure functions.
//
//	rules, err := rulebook.For(ctx, job)
//	s := snapshot.New(job, rules, time.Now(), snapshot.Missing{}, snapshot.Pod{Object: pod})
//	for _, d := range s.Decisions(ctx) { ... }
//
// The package computes attempt numbers, earlier attempts, budgets, recorded verdicts and missing information, in one order: first
// the Pods' numbers, then the attempts before each Pod, then the verdicts, and finally the budgets over all Pods. Pod.Input is the
// only place that defines what rules see of a Pod.
package snapshot
