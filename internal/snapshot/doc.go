// Package snapshot has the Snapshot of a Job: the Job, its Pods and everything that verdicts on them depend on, at one time.
// Files, a cluster, the controller's caches and the arguments of the public engine make Snapshots; pure functions read them.
//
//	rules, err := rulebook.For(ctx, job)
//	s := snapshot.New(job, rules, time.Now(), snapshot.Missing{}, snapshot.Pod{Object: pod})
//	for _, d := range s.Decisions(ctx) { ... }
//
// Attempt numbers, earlier attempts, budgets, recorded verdicts and what is not known are computed here, in one order: Pods get
// numbers, then the attempts before them, then a verdict each, and last the budgets are counted over all Pods. Pod.Input is the only
// place that says what rules see of a Pod.
package snapshot
