//go:build !race

package custom_test

const forgotten = 0
