package plan

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// Kept is a cache of the state that Next derives from a Job's pods. With it, a Plan's cost is proportional to the number
// of changed pods. It serves one Job; its zero value is empty. It is not safe for concurrent use.
//
// The verdict on a pod is cached while the pod does not change. Call Forget if Judge would return another verdict.
type Kept struct {
	view view
	pods map[string][]*corev1.Pod // by name
	// changed has the names whose pods are not in the view yet. current is true if the view has all others.
	changed map[string]bool
	current bool
}

// Set sets the pods with a name: usually one, or none if it was deleted. There may be two while a cache still shows the
// older one. The pods must not be changed afterwards.
func (k *Kept) Set(name string, pods ...*corev1.Pod) {
	if slices.Equal(k.pods[name], pods) {
		return
	}
	if k.pods == nil {
		k.pods, k.changed = map[string][]*corev1.Pod{}, map[string]bool{}
	}
	k.changed[name] = true
	if len(pods) == 0 {
		delete(k.pods, name)
	} else {
		k.pods[name] = pods
	}
}

// Pods returns the pods with a name.
func (k *Kept) Pods(name string) []*corev1.Pod { return k.pods[name] }

// Changed returns the pods that were set since the last Plan.
func (k *Kept) Changed() []*corev1.Pod {
	var pods []*corev1.Pod
	for name := range k.changed {
		pods = append(pods, k.pods[name]...)
	}
	return pods
}

// EarlierAttempts returns the attempts before a pod, as of the last Plan. It returns none unless rules read attempts.
func (k *Kept) EarlierAttempts(p *corev1.Pod) []cel.Attempt {
	for _, known := range k.view.byName[p.Name] {
		if known.Pod == p {
			return k.view.earlier(known)
		}
	}
	return nil
}

// Forget makes the next Plan derive everything again.
func (k *Kept) Forget() { k.current = false }

// Next returns the same Plan as the function Next for all pods that were set. It ignores the Observation's own list of
// pods.
func (k *Kept) Next(o Observation) Plan {
	k.update(o)
	return k.view.next()
}

// update brings the view up to date.
func (k *Kept) update(o Observation) {
	v := &k.view
	terms, stored, current := v.terms, v.stored, k.current
	k.current = false // stays false if the update panics
	v.read(o)
	if current && terms == v.terms {
		k.readChanges()
		v.compareStored(stored)
		v.refresh()
	} else {
		v.rebuild(slices.Concat(slices.Collect(maps.Values(k.pods))...))
	}
	k.changed = map[string]bool{} // a map never shrinks
	// Assumed successes depend on all pods. So do earlier attempts that the pods do not carry.
	k.current = len(v.assumed) == 0 && v.bare == 0
}

// readChanges reads the pods whose names have changed.
func (k *Kept) readChanges() {
	v := &k.view
	var read []*pod
	for name := range k.changed {
		for _, p := range v.byName[name] {
			v.remove(p)
		}
		delete(v.byName, name)
		read = append(read, v.readPods(k.pods[name])...)
	}
	v.judgePods(read)
	for _, p := range read {
		v.insert(p, inserted)
	}
}

// rebuild reads all pods.
func (v *view) rebuild(pods []*corev1.Pod) {
	v.pods = newPods()
	all := v.readPods(pods)
	if v.unnamed && !v.indexed {
		v.numberPods(all)
	}
	v.judgePods(all)
	slices.SortFunc(all, comparePlace)
	for _, p := range all {
		v.insert(p, appended)
	}
	slices.SortFunc(v.byFailure, compareFinish)
	slices.SortFunc(v.bySuccess, compareFinish)
	if v.stage != jobFinished {
		v.spend()
	}
	v.evaluateAll()
	if lost := v.lostSuccesses(); lost > 0 {
		v.assume(lost)
		v.evaluateAll()
	}
}

// evaluateAll evaluates all slots.
func (v *view) evaluateAll() {
	v.totals = totals{}
	v.marked, v.dirty = map[int]*slot{}, map[int]bool{}
	var completed, failed, occupied []int
	for number, s := range v.slots {
		s.state = v.evaluate(s)
		v.totals.add(s.state.totals, 1)
		if s.state.marked() {
			v.marked[number] = s
		}
		if s.state.completed {
			completed = append(completed, number)
		}
		if s.state.failed {
			failed = append(failed, number)
		}
		if s.state.occupied {
			occupied = append(occupied, number)
		}
	}
	v.completed = v.stored.completed.union(v.assumed, setOf(completed))
	v.failedIndexes = v.stored.failed.union(setOf(failed))
	v.taken = v.completed.union(v.failedIndexes, setOf(occupied))
}

// insert adds a pod that was read and, if it has failed, judged. It adds the pod to sorted lists with add.
func (v *view) insert(p *pod, add func(list []*pod, p *pod, compare func(a, b *pod) int) []*pod) {
	s := v.slots[p.slot]
	if s == nil {
		s = &slot{number: p.slot}
		v.slots[p.slot] = s
	}
	s.pods = add(s.pods, p, comparePlace)
	v.byName[p.Name] = append(v.byName[p.Name], p)
	v.dirty[p.slot] = true
	if p.held && !p.active() {
		v.ended = add(v.ended, p, comparePlace)
	}
	if p.failed {
		v.byFailure = add(v.byFailure, p, compareFinish)
	}
	if p.Status.Phase == corev1.PodSucceeded && v.valid(p) {
		v.bySuccess = add(v.bySuccess, p, compareFinish)
	}
	if p.failed && p.verdict.Budget.Limit > 0 && p.slot != none {
		v.limited[p] = true
	}
	if len(p.problems) > 0 {
		v.faulty[p] = true
	}
	if v.isBare(p) {
		v.bare++
	}
}

// remove undoes insert.
func (v *view) remove(p *pod) {
	s := v.slots[p.slot]
	s.pods = removed(s.pods, p, comparePlace)
	v.dirty[p.slot] = true
	if p.held && !p.active() {
		v.ended = removed(v.ended, p, comparePlace)
	}
	if p.failed {
		v.byFailure = removed(v.byFailure, p, compareFinish)
	}
	if v.attempts && v.isAttempt(p) {
		v.failures[v.line(p)] = removed(v.failures[v.line(p)], p, compareFinish)
	}
	if p.Status.Phase == corev1.PodSucceeded && v.valid(p) {
		v.bySuccess = removed(v.bySuccess, p, compareFinish)
	}
	delete(v.limited, p)
	delete(v.faulty, p)
	if v.isBare(p) {
		v.bare--
	}
}

// appended returns a list with an element at its end. The list is sorted later, or all are added in order.
func appended(list []*pod, p *pod, _ func(a, b *pod) int) []*pod { return append(list, p) }

// inserted returns a sorted list with an element added. Most elements belong at the end.
func inserted(list []*pod, p *pod, compare func(a, b *pod) int) []*pod {
	at := len(list)
	if at > 0 && compare(list[at-1], p) > 0 {
		at, _ = slices.BinarySearchFunc(list, p, compare)
	}
	return slices.Insert(list, at, p)
}

// removed returns a sorted list without an element, which may be absent.
func removed(list []*pod, p *pod, compare func(a, b *pod) int) []*pod {
	at, _ := slices.BinarySearchFunc(list, p, compare)
	for ; at < len(list) && compare(list[at], p) == 0; at++ {
		if list[at] == p {
			return slices.Delete(list, at, at+1)
		}
	}
	return list
}

// compareStored finds the slots and pods whose record in the status or the ledger has changed.
func (v *view) compareStored(before stored) {
	for _, change := range [][2]indexes{{before.completed, v.stored.completed}, {before.failed, v.stored.failed}} {
		for _, part := range []indexes{change[0].minus(change[1]), change[1].minus(change[0])} {
			for number := range part.all() {
				v.dirty[number] = true
			}
		}
	}
	if maps.Equal(before.releasing, v.stored.releasing) {
		return
	}
	for _, p := range v.ended {
		if now := v.stored.releasing[p.UID]; p.releasing != now {
			p.releasing = now
			v.dirty[p.slot] = true
		}
	}
}

// refresh evaluates the slots that may have changed.
func (v *view) refresh() {
	if v.stage != jobFinished {
		v.spend()
	}
	for number := range v.dirty {
		s := v.slots[number]
		if s == nil {
			s = &slot{number: number}
		}
		v.totals.add(s.state.totals, -1)
		s.state = v.evaluate(s)
		v.totals.add(s.state.totals, 1)
		v.completed = v.completed.with(number, s.state.completed)
		v.failedIndexes = v.failedIndexes.with(number, s.state.failed)
		v.taken = v.taken.with(number, s.state.occupied || s.state.completed || s.state.failed)
		if delete(v.marked, number); s.state.marked() {
			v.marked[number] = s
		}
		if len(s.pods) == 0 {
			delete(v.slots, number)
		}
	}
	v.dirty = map[int]bool{}
	if lost := v.lostSuccesses(); lost > 0 {
		v.assume(lost)
		v.evaluateAll()
	}
}

// all returns the pods by slot, attempt and name.
func (v *view) all() []*pod {
	var all []*pod
	for _, s := range v.allSlots() {
		all = append(all, s.pods...)
	}
	return all
}

// markedSlots returns the slots that need a Plan's attention, in order.
func (v *view) markedSlots() []*slot { return inOrder(v.marked) }

// allSlots returns all slots, in order.
func (v *view) allSlots() []*slot { return inOrder(v.slots) }

func inOrder(slots map[int]*slot) []*slot {
	return slices.SortedFunc(maps.Values(slots), func(a, b *slot) int { return cmp.Compare(a.number, b.number) })
}
