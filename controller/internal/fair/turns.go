package fair

import (
	"time"

	"k8s.io/utils/clock"
)

// Turns orders the work of several namespaces. The next item is the oldest one of the namespace that has used the least
// time so far. Namespaces with work thus get equal shares of the time, and the backlog of one does not delay another.
//
// A namespace without work accumulates no credit: when it returns, it starts level with the others. If it has used more
// time than the others, this is remembered until they have caught up or no namespace has work. Then the namespace is
// forgotten. Turns is not safe for concurrent use.
type Turns[T any] struct {
	namespaceOf func(T) string
	// slots is the number of items that may be under way at a time, or 0 for no limit. The last free slot is given only
	// to a namespace that holds none, so no namespace can hold them all.
	slots int

	namespaces map[string]*turn[T]
	// waiting is the number of waiting items, and busy the number of items under way.
	waiting, busy int
	// served is the number of items started so far.
	served uint64
	// used is the time that the most recently served namespace had used by then.
	used time.Duration
}

// turn is a namespace that has work waiting or under way, or has used more time than the others.
type turn[T any] struct {
	waiting []T
	busy    int
	used    time.Duration
	// last is the value of served when this namespace was last served.
	last uint64
}

// NewTurns returns Turns without work. The function namespaceOf returns the namespace of an item.
func NewTurns[T any](slots int, namespaceOf func(T) string) *Turns[T] {
	return &Turns[T]{namespaceOf: namespaceOf, slots: slots, namespaces: map[string]*turn[T]{}}
}

// Push adds an item.
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

// Pop starts the next item, if one may start now. The caller must call End when the work has ended.
func (t *Turns[T]) Pop() (work T, found bool) {
	n := t.next()
	if n == nil {
		return work, false
	}
	work, n.waiting[0] = n.waiting[0], work // drop the reference
	n.waiting = n.waiting[1:]
	t.used = max(t.used, n.used)
	t.served++
	t.waiting--
	t.busy++
	n.busy++
	n.last = t.served
	return work, true
}

// next returns the namespace whose turn it is, or nil. It forgets namespaces that no longer matter.
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

// End marks an item as finished and charges its namespace for the time used.
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

// InTurns calls do for items of several namespaces in turn until do returns false, and returns the items left over.
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
