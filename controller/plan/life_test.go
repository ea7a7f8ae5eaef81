package plan

import (
	"maps"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// TestLives runs Jobs of all kinds under a controller that crashes between any two calls, whose calls take effect in any
// order, and whose caches lag, while pods end and are deleted at random. After a crash, an earlier version may take over,
// or this one again. After each call the world checks the status rules, the counters and the pods. Every Job ends.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life{t, newWorld(t.Fatalf, drawJob(t))}
		l.earlier = rapid.Bool().Draw(t, "earlier")
		l.settings = Settings{
			MaxHeld:      rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxHeld"),
			MaxReleasing: rapid.SampledFrom([]int{2, 100}).Draw(t, "MaxReleasing"),
		}
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			l.step()
		}
		l.settle()
	})
}

func drawJob(t *rapid.T) jobBuilder {
	completions, parallelism := rapid.Int32Range(1, 5).Draw(t, "completions"), rapid.Int32Range(1, 4).Draw(t, "parallelism")
	var b jobBuilder
	switch rapid.SampledFrom([]string{"NonIndexed", "Indexed", "PerIndex", "WorkQueue"}).Draw(t, "mode") {
	case "NonIndexed":
		b = nonIndexed(completions, parallelism)
	case "Indexed":
		b = indexed(completions, parallelism)
		drawSuccessPolicy(t, b, completions)
	case "PerIndex":
		b = perIndex(completions, parallelism, rapid.Int32Range(0, 2).Draw(t, "perIndex"))
		if rapid.Bool().Draw(t, "maxFailedIndexes") {
			b.j.Spec.MaxFailedIndexes = new(int32(1))
		}
		drawSuccessPolicy(t, b, completions)
	default:
		b = workQueue(parallelism)
	}
	if !rapid.Bool().Draw(t, "default backoffLimit") {
		b = b.backoffLimit(rapid.Int32Range(0, 6).Draw(t, "backoffLimit"))
	}
	switch rapid.IntRange(0, 2).Draw(t, "replacement") {
	case 1:
		b = b.replaceFailed()
	case 2:
		b = b.policy()
	}
	if rapid.Bool().Draw(t, "deadline") {
		b.j.Spec.ActiveDeadlineSeconds = new(int64(3000))
	}
	if rapid.Bool().Draw(t, "limit") {
		b = b.annotated(FailedPodsLimitAnnotation, "1")
	}
	return b
}

func drawSuccessPolicy(t *rapid.T, b jobBuilder, completions int32) {
	if rapid.Bool().Draw(t, "successPolicy") {
		count := rapid.Int32Range(1, completions).Draw(t, "succeededCount")
		b.j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: &count}}}
	}
}

// life draws the events in a world.
type life struct {
	t *rapid.T
	*world
}

func (l life) draw(label string, most int) int { return rapid.IntRange(0, most).Draw(l.t, label) }

func (l life) step() {
	switch l.draw("step", 9) {
	case 0, 1, 2:
		l.sync()
	case 3:
		l.seenJob += l.draw("newer Job", len(l.jobs)-1-l.seenJob)
	case 4:
		l.seenPods += l.draw("newer pods", len(l.podLists)-1-l.seenPods)
	case 5, 6, 7:
		l.kubelet()
	case 8:
		l.now = l.now.Add(time.Duration(l.draw("seconds", 700)) * time.Second)
	case 9:
		l.user()
	}
}

// sync makes a Plan, and executes its calls in any order, up to a crash.
func (l life) sync() {
	calls := l.calls(l.next())
	for i := range calls {
		j := i + l.draw("call", len(calls)-1-i)
		calls[i], calls[j] = calls[j], calls[i]
		if l.draw("crash", 9) == 0 {
			l.catchUp() // the next controller lists the newest state
			l.kept = Kept{}
			l.restart()
			l.earlier = !l.earlier && l.draw("earlier", 1) == 0
			return
		}
		calls[i]()
	}
}

// kubelet changes the state of a pod.
func (l life) kubelet() {
	name, ok := l.pick()
	if !ok {
		return
	}
	switch {
	case l.pods[name].Status.Phase == corev1.PodPending && l.draw("starts", 1) == 0:
		l.update(name, func(p *corev1.Pod) { podBuilder{p}.ready() })
	default:
		l.exit(name, rapid.SampledFrom(append(slices.Concat(l.rules.codes(), l.court.codes()), 0, 0, 1, 1, codeIgnore, codeFailIndex, codeCount, codeFailJob)).Draw(l.t, "code"))
	}
}

func (l life) exit(name string, code int32) {
	second := int(l.now.Sub(epoch).Seconds())
	l.update(name, func(p *corev1.Pod) { podBuilder{p}.exited(code, second); l.drawEnd(p, code) })
}

// pick returns a pod that has not ended.
func (l life) pick() (string, bool) {
	var running []string
	for _, name := range slices.Sorted(maps.Keys(l.pods)) {
		if !podView(l.pods[name]).terminal() {
			running = append(running, name)
		}
	}
	if len(running) == 0 {
		return "", false
	}
	return running[l.draw("pod", len(running)-1)], true
}

// user deletes a pod or changes the Job.
func (l life) user() {
	switch l.draw("user", 3) {
	case 0:
		l.change(func(s *batchv1.JobSpec) { s.Suspend = new(!*s.Suspend) })
	case 1:
		l.change(func(s *batchv1.JobSpec) {
			parallelism := int32(l.draw("parallelism", 4))
			if s.SuccessPolicy == nil && ptr.Deref(s.CompletionMode, "") == batchv1.IndexedCompletion {
				parallelism = max(1, parallelism) // a Job without completions completes without a success
				s.Completions = &parallelism
				l.scaled = true
			}
			s.Parallelism = &parallelism
		})
	default:
		if names := slices.Sorted(maps.Keys(l.pods)); len(names) > 0 {
			l.delete(l.pods[names[l.draw("deleted", len(names)-1)]])
		}
	}
}

func (l life) change(change func(*batchv1.JobSpec)) {
	l.job = l.job.DeepCopy()
	change(&l.job.Spec)
	if completions := l.job.Spec.Completions; completions != nil { // forget the slots beyond
		maps.DeleteFunc(l.mustSucceed, func(slot int, _ bool) bool { return slot >= int(*completions) })
	}
	l.changedJob()
}

// settle lets the Job end: caches do not lag, the controller does not crash, pods succeed, and terminating pods end.
func (l life) settle() {
	l.change(func(s *batchv1.JobSpec) { s.Suspend, s.Parallelism = new(false), new(max(1, *s.Parallelism)) })
	for range 200 {
		l.catchUp()
		p := l.next()
		for _, call := range l.calls(p) {
			call()
		}
		if l.ended() && l.idle(p) {
			l.rules.conclude(l.world)
			return
		}
		l.now = l.now.Add(p.LookAgain + time.Second)
		for _, name := range slices.Sorted(maps.Keys(l.pods)) {
			if !podView(l.pods[name]).terminal() {
				l.exit(name, 0)
			}
		}
	}
	l.fail("the Job does not end: %s", statusText(l.job))
}

// idle reports whether no calls are left, and no pods are held.
func (l life) idle(p Plan) bool {
	if len(l.calls(p)) > 0 {
		return false
	}
	for _, pod := range l.pods {
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			l.fail("pod %s is held after the end", pod.Name)
		}
	}
	return true
}
