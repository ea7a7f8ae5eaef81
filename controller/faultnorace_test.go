//go:build !race

package controller_test

// slowness is by how much less is tried.
const slowness = 1
