package fair

import (
	"time"

	"k8s.io/utils/clock"
)

// Turns are the order in which the work of several namespaces is done: next comes the oldest work of the namespace that has
// used the least time so far. So each namespace that has work gets the same share of the time, and the backlog of one does not
// delay another.
//
// A namespace without work saves no time up: when it comes back, it begins where the others are. The time that it has used beyond
// theirs is remembered until they have used as much, or nobody has work; then the namespace is forgotten. Turns are not safe for
// concurrent use.
type Turns[T any] struct {
	namespaceOf func(T) string
	// slots is how much work may be under way at a time, 0 for any number. The last free slot is for a namespace that holds
	// none, so no namespace holds them all.
	slots int

	namespaces map[string]*turn[T]
	// waiting is how much work waits, busy how much is under way.
	waiting, busy int
	// served is how much work was begun.
	served uint64
	// used is the time that the namespace which was served last had used then.
	used time.Duration
}

// turn is a namespace that has work, has work under way, or is ahead of the others.
type turn[T any] struct {
	waiting []T
	busy    int
	used    time.Duration
	// last is the number of the work of this namespace that was begun last.
	last uint64
}

// NewTurns returns turns for work that belongs to namespaces.
func NewTurns[T any](slots int, namespaceOf func(T) string) *Turns[T] {
	return &Turns[T]{namespaceOf: namespaceOf, slots: slots, namespaces: map[string]*turn[T]{}}
}

// Push adds work.
func (t *Turns[T]) Push(work T) {
	namespace := t.namespaceOf(work)
	n := t.namespaces[namespace]
	if n == nil {
		n = &turn[T]{used: t.used}
		t.namespaces[namespace] = n
	}
	if len(n.waiting) == 0 && n.busy == 0 {
		n.used = max(n.used, t.used)
	}
	n.waiting = append(n.waiting, work)
	t.waiting++
}

// Pop begins the next work, if there is any that may begin now. The caller says with end that it has ended.
func (t *Turns[T]) Pop() (work T, found bool) {
	n := t.next()
	if n == nil {
		return work, false
	}
	work, n.waiting[0] = n.waiting[0], work // nothing refers to it any more
	n.waiting = n.waiting[1:]
	t.used = max(t.used, n.used)
	t.served++
	t.waiting--
	t.busy++
	n.busy++
	n.last = t.served
	return work, true
}

// next returns the namespace whose turn it is, or nil. Namespaces that are of no interest any more are forgotten.
func (t *Turns[T]) next() *turn[T] {
	var next *turn[T]
	last := t.slots > 0 && t.busy >= t.slots-1
	for name, n := range t.namespaces {
		switch {
		case len(n.waiting) == 0:
			if n.busy == 0 && n.used <= t.used {
				delete(t.namespaces, name)
			}
		case last && n.busy > 0:
		case next == nil || n.before(next):
			next = n
		}
	}
	return next
}

func (n *turn[T]) before(other *turn[T]) bool {
	if n.used != other.used {
		return n.used < other.used
	}
	return n.last < other.last
}

// End takes back work that has ended, with the time that it took.
func (t *Turns[T]) End(work T, took time.Duration) {
	n := t.namespaces[t.namespaceOf(work)]
	t.busy--
	n.busy--
	n.used += took
	if t.busy == 0 && t.waiting == 0 {
		clear(t.namespaces)
		t.used = 0
	}
}

// InTurns does work of several namespaces until do returns false, and returns what is left.
func InTurns[T any](clock clock.PassiveClock, all []T, namespaceOf func(T) string, do func(T) bool) []T {
	turns := NewTurns(0, namespaceOf)
	for _, work := range all {
		turns.Push(work)
	}
	for goOn := true; goOn && turns.waiting > 0; {
		work, _ := turns.Pop()
		start := clock.Now()
		goOn = do(work)
		turns.End(work, clock.Since(start))
	}
	var rest []T
	for _, n := range turns.namespaces {
		rest = append(rest, n.waiting...)
	}
	return rest
}
