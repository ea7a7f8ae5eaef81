//go:build !race

package runtime_test

const forgotten = 0
