// Package simulation simulates the life of a Job on a virtual clock. Package plan runs the Job, as in the controller; a
// Script says what its pods do, and a seed decides what the Script leaves to chance.
//
//	result, err := simulation.Run(ctx, simulation.Options{Job: job, Program: program, Script: script, Until: 24 * time.Hour})
//	result.Outcome // Complete, Failed or Unfinished
//
// The pods' statuses are written as the kubelet and the eviction API write them (KEP-3329, "Design Details"), so that
// verdicts are those of a cluster. The clock counts whole seconds, as the times of the API do. The same Options give the same
// Result, byte for byte.
//
// Verdicts take budgets into account: a rule whose budget is used up gives the budget's other action.
//
// If Options have rules on pods that live, the controller's own code (binding.Selection) evaluates each such pod at every
// livingPeriod since its creation. Nodes may be lost and come back: the node controller, the taint manager and pod garbage
// collection then act with the delays that they have by default.
//
// The simulation has no cache that lags, no failing API calls, and calls take no time: the controller acts at once, and sees
// the effect at once. Package plan's own tests cover the rest.
package simulation
