// Package race reports whether the race detector is on. It only helps tests in which goroutines share data. Tests of a
// single goroutine or of other processes become much slower and find nothing, so they can skip it.
package race
