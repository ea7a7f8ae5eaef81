// Package dataset generates a month of a cluster's Jobs and their Pods, for tests, examples and benchmarks. Released
// programs do not link it.
//
// The Job controller's rules apply: back-off, backoffLimit, backoffLimitPerIndex and podFailurePolicy. Pods that it
// deletes because their Job has failed are omitted. The same seed and Options give the same fleet.
package dataset
