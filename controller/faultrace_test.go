//go:build race

package controller_test

// slowness is by how much less is tried with the race detector.
const slowness = 5
