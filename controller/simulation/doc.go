// Package simulation simulates the life of a Job on a virtual clock. Package plan runs the Job, as in the controller; a
// Script describes its pods' behaviour, and a seed decides everything that the Script leaves to chance.
//
//	result, err := simulation.Run(ctx, simulation.Options{Job: job, Program: program, Script: script, Until: 24 * time.Hour})
//	result.Outcome // Complete, Failed or Unfinished
//
// The simulator writes pod statuses as the kubelet and the eviction API do (KEP-3329, "Design Details"), so that verdicts
// equal those in a cluster. The clock counts whole seconds, like the API's times. The same Options give the same Result,
// byte for byte.
//
// Verdicts take budgets into account: a rule whose budget is used up gives the budget's other action.
//
// If Options have rules on living pods, the controller's own code (binding.Selection) evaluates each such pod every
// livingPeriod after its creation. Nodes may be lost and come back. The node controller, the taint manager and pod
// garbage collection then act with their default delays.
//
// The simulation has no lagging cache, no failing API calls, and no latency: the controller acts and sees the effect
// immediately. Package plan's own tests cover the rest.
package simulation
