package simulation

import (
	"cmp"
	"container/heap"
)

// queue holds scheduled functions, ordered by time and, at the same time, by insertion.
type queue struct {
	items    items
	sequence int
}

type item struct {
	at       int64
	sequence int
	do       func()
}

type items []item

func (q *queue) add(at int64, do func()) {
	q.sequence++
	heap.Push(&q.items, item{at, q.sequence, do})
}

// next returns the time of the next function.
func (q *queue) next() (at int64, found bool) {
	if len(q.items) == 0 {
		return 0, false
	}
	return q.items[0].at, true
}

func (q *queue) take() func() {
	return heap.Pop(&q.items).(item).do //nolint:forcetypeassert // nothing else is stored
}

func (s *items) Len() int { return len(*s) }

func (s *items) Less(i, j int) bool {
	a, b := (*s)[i], (*s)[j]
	return cmp.Or(cmp.Compare(a.at, b.at), a.sequence-b.sequence) < 0
}

func (s *items) Swap(i, j int) { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push implements heap.Interface.
func (s *items) Push(x any) { *s = append(*s, x.(item)) } //nolint:forcetypeassert // items hold nothing else

// Pop implements heap.Interface.
func (s *items) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
