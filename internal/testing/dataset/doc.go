// Package dataset generates a month of a cluster's Jobs and their Pods, for tests, examples and benchmarks. Released programs do not link it.
//
// The Job controller's rules hold: back-off, backoffLimit, backoffLimitPerIndex and podFailurePolicy. Pods that it deletes because
// their Job has failed are left out. The same seed and Options give the same fleet.
package dataset
