//go:build race

package runtime_test

// forgotten is how many allocations an evaluation may make: with the race detector a
// sync.Pool forgets what it is given now and then.
const forgotten = 2
