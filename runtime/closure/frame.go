package closure

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/library"
)

// Truth is what a closure says.
type Truth uint8

// Undecided is for the interpreter to say.
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

// maxDepth is how deep comprehensions may be nested. Deeper ones are left to the
// interpreter.
const maxDepth = 4

// maxSteps is how many elements and pieces of text closures look at for one pod, which
// takes some milliseconds. After that they leave expressions to the interpreter, which
// has a limit on its cost.
const (
	maxSteps = 200_000
	piece    = 64 // bytes
)

// Frame has what closures evaluate for one pod. One goroutine uses it at a time, and then
// again for the next pod.
type Frame struct {
	Pod     *corev1.Pod
	Job     *batchv1.Job
	Attempt int64
	Now     time.Time

	// cache has the values of variables, by their number.
	cache []cachedValue
	// locals are the elements that loops look at, by their depth.
	locals [maxDepth]local
	steps  int
}

// cachedValue is the value of a variable, once it has been evaluated.
type cachedValue struct {
	known   bool
	decided bool
	truth   Truth
	int     int64
	string  string
}

// Variables makes room for the values of some number of variables.
func (f *Frame) Variables(n int) {
	if n > cap(f.cache) {
		f.cache = make([]cachedValue, n)
	}
	f.cache = f.cache[:n]
}

// Reset forgets the pod. Loops have restored their locals.
func (f *Frame) Reset() {
	clear(f.cache)
	f.Pod, f.Job, f.steps = nil, nil, 0
}

// step counts an element. It returns false when the closures have looked at too many.
func (f *Frame) step() bool { return f.look(1) }

// look counts elements that a function looks at by itself. It returns false when there
// are too many.
func (f *Frame) look(elements int) bool {
	f.steps += elements
	return f.steps <= maxSteps
}

// lookForContainers counts the steps that the kinds of all init containers take.
func (f *Frame) lookForContainers() bool { return f.look(library.Steps(f.Pod) - library.Count(f.Pod)) }

// read counts a text that is read to its end. It returns false when the closures have
// looked at too much.
func (f *Frame) read(text string) bool {
	f.steps += len(text) / piece
	return f.steps <= maxSteps
}
