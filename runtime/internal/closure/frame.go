package closure

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// Truth is the result of a closure.
type Truth uint8

// Undecided means that the interpreter has to decide.
const (
	No Truth = iota
	Yes
	Undecided
)

func truth(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

// maxDepth is the maximum nesting depth of comprehensions. Deeper ones are left to the interpreter.
const maxDepth = 4

// maxSteps is the maximum number of elements and pieces of text that closures may read for one pod, which takes some
// milliseconds. Beyond it they leave expressions to the interpreter, which has a cost limit.
const (
	maxSteps = 200_000
	piece    = 64 // bytes
)

// Frame is the state of an evaluation for one pod. One goroutine uses it at a time; it is reused for the next pod.
type Frame struct {
	Pod     *corev1.Pod
	Job     *batchv1.Job
	Attempt int64
	Now     time.Time
	Node    *corev1.Node // nil if the variable is absent

	// cache has the values of variables, by index.
	cache []cachedValue
	// locals are the current elements of loops, by depth.
	locals [maxDepth]local
	steps  int
}

// cachedValue is the value of a variable, once it is evaluated.
type cachedValue struct {
	known   bool
	decided bool
	truth   Truth
	int     int64
	string  string
}

// Variables allocates space for the values of n variables.
func (f *Frame) Variables(n int) {
	if n > cap(f.cache) {
		f.cache = make([]cachedValue, n)
	}
	f.cache = f.cache[:n]
}

// Reset clears the frame. Loops have restored their locals.
func (f *Frame) Reset() {
	clear(f.cache)
	f.Pod, f.Job, f.Node, f.steps = nil, nil, nil, 0
}

// step counts an element. It returns false if the closures have read too many.
func (f *Frame) step() bool { return f.look(1) }

// look counts elements that a function reads. It returns false if the closures have read too many.
func (f *Frame) look(elements int) bool {
	f.steps += elements
	return f.steps <= maxSteps
}

// lookForContainers counts the steps for finding the kinds of all init containers.
func (f *Frame) lookForContainers() bool { return f.look(cel.Steps(f.Pod) - cel.Count(f.Pod)) }

// read counts a text that is read to its end. It returns false if the closures have read too much.
func (f *Frame) read(text string) bool {
	f.steps += len(text) / piece
	return f.steps <= maxSteps
}
