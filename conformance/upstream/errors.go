package upstream

import "fmt"

// panicError is a panic of an engine: what it was asked is worth more than its stack.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// contradiction returns the error of an answer of upstream's that does not fit together: this
// package has misunderstood upstream.
func contradiction(format string, args ...any) error {
	return fmt.Errorf("upstream's answers contradict each other: "+format, args...)
}

// otherMessage returns the error of a verdict that is upstream's in everything but its message:
// runtime.Verdict does not make upstream's sentence of it.
func otherMessage(theirs, ours string) error {
	return fmt.Errorf("upstream's message is %q, that of the same verdict is %q", theirs, ours)
}
