// Package judging says what policies make of the Pods of one Job: with their budgets, and with the attempts before each Pod.
//
//	judge := judging.New(environment, policies.For)
//	verdicts, err := judge.Verdicts(ctx, job, pods)
//
// It reads nothing but what it is given, so that the Pods may be long gone.
package judging
