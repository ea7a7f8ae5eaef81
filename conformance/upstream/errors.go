package upstream

import "fmt"

// panicError is a panic of an engine. Its input is more useful than its stack.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// contradiction returns the error for an inconsistent answer of upstream: this package has misunderstood upstream.
func contradiction(format string, args ...any) error {
	return fmt.Errorf("upstream's answers contradict each other: "+format, args...)
}

// otherMessage returns the error for a verdict that equals upstream's in everything but its message: runtime.Verdict does
// not build upstream's sentence from it.
func otherMessage(theirs, ours string) error {
	return fmt.Errorf("upstream's message is %q, that of the same verdict is %q", theirs, ours)
}
