// Package simulation lives a Job's life on a virtual clock. The Job is run by package plan, as the controller runs it; what
// its pods do is told by a Script, and a seed draws what the Script leaves to chance.
//
//	result, err := simulation.Run(ctx, simulation.Options{Job: job, Program: program, Script: script, Until: 24 * time.Hour})
//	result.Outcome // Complete, Failed or Unfinished
//
// The pods' statuses are written as the kubelet and the eviction API write them (KEP-3329, "Design Details"), so that
// verdicts are those of a cluster. The clock counts whole seconds, as the times of the API do. The same Options give the
// same Result, byte for byte.
//
// Verdicts are those after budgets: of a rule whose budget is used up, the budget's other action.
//
// Pods that do not start are looked at each pendingPeriod since their creation, by the controller's own decision
// (binding.Selection), if Options have a rule for them.
//
// Not simulated are a cache that lags behind, API calls that fail, and the time that calls take. The controller acts at
// once, and sees what it did at once. Package plan's own tests cover the rest.
package simulation
