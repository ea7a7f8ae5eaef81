package simulation

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
)

func (s *simulator) time() *metav1.Time { return s.timeAt(s.now) }

func (s *simulator) timeAt(seconds int64) *metav1.Time {
	return new(metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second)))
}

// change replaces the pod with a changed copy.
func (s *simulator) change(l *life, how func(*corev1.Pod)) {
	changed := *l.pod // shallow copy: how replaces the parts that change
	how(&changed)
	s.version++
	changed.ResourceVersion = strconv.Itoa(s.version)
	l.pod = &changed
	s.changed[changed.Name] = true
}

// report changes the status of a pod.
func (s *simulator) report(l *life, write func(*corev1.Pod)) {
	s.change(l, func(p *corev1.Pod) {
		p.Status = *p.Status.DeepCopy()
		write(p)
	})
}

// apply executes a Plan, and reports whether it contained any calls.
func (s *simulator) apply(p plan.Plan) bool {
	for _, released := range slices.Concat(p.Release, p.Free) {
		s.on(released, s.release)
	}
	for _, dismissed := range p.Dismiss {
		s.on(dismissed, s.dismiss)
	}
	for _, deleted := range p.Delete {
		s.on(deleted, s.takeDown)
	}
	for _, created := range p.Create {
		s.create(created)
	}
	if p.Write != nil {
		s.write(p.Write)
		for _, e := range p.Events {
			s.addJobEvent(Event{Type: JobEvent, Reason: e.Reason, Message: e.Message})
		}
	}
	s.sweep()
	return len(p.Release)+len(p.Free)+len(p.Dismiss)+len(p.Delete)+len(p.Create) > 0 || p.Write != nil
}

// on calls do for a pod if it still exists.
func (s *simulator) on(p *corev1.Pod, do func(*life)) {
	if l := s.byName[p.Name]; l != nil && l.pod.UID == p.UID {
		do(l)
	}
}

func (s *simulator) release(l *life) {
	onlyEnded := s.Program != nil || *s.job.Spec.PodReplacementPolicy == batchv1.Failed
	if l.stage != ended && !l.takenDown && onlyEnded && s.condition(batchv1.JobFailureTarget) == nil {
		l.dismissed = true // a pod counts once it has ended or its Job fails, and this one is released earlier
	}
	s.change(l, func(p *corev1.Pod) {
		p.Finalizers = slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return f == batchv1.JobTrackingFinalizer })
	})
	s.vanish(l)
}

func (s *simulator) dismiss(l *life) {
	l.dismissed = true
	s.release(l)
	s.addPodEvent(l, Event{Type: PodDeleted})
	s.erase(l)
}

func (s *simulator) takeDown(l *life) {
	if l.pod.DeletionTimestamp == nil && l.stage != ended {
		l.takenDown = true
		s.addPodEvent(l, Event{Type: PodDeleted})
	}
	s.erase(l)
}

// vanish removes a pod that is being deleted once nothing holds it.
func (s *simulator) vanish(l *life) bool {
	if l.pod.DeletionTimestamp == nil || len(l.pod.Finalizers) > 0 || l.held || l.stage != ended && l.stage != pending {
		return false
	}
	if l.stage == pending {
		s.abandon(l)
	}
	s.remove(l)
	return true
}

// abandon ends a pod that never got a node, and so never reaches a final phase. The pod counts as failed if the
// controller counts it.
func (s *simulator) abandon(l *life) {
	l.stage = ended
	event := Event{Type: PodStopped}
	if !l.dismissed {
		failed := *l.pod
		failed.Status.Phase = corev1.PodFailed
		event.Verdict = new(s.judge(&failed, plan.Attempt(s.job, &failed)))
		s.result.Summary.Verdicts[string(event.Verdict.Action)]++
	} else {
		s.result.Summary.Stopped++
	}
	s.addPodEvent(l, event)
	s.close(l, false)
}

// remove deletes a pod. It stays in lives, where an ended pod has no effect, until sweep.
func (s *simulator) remove(l *life) {
	delete(s.byName, l.pod.Name)
	s.changed[l.pod.Name] = true
}

// sweep removes all deleted pods from lives at once.
func (s *simulator) sweep() {
	if len(s.lives) > len(s.byName) {
		s.lives = slices.DeleteFunc(s.lives, func(l *life) bool { return s.byName[l.pod.Name] != l })
	}
}

func (s *simulator) create(p *corev1.Pod) {
	if s.byName[p.Name] != nil {
		return // AlreadyExists: the pod was created earlier
	}
	slot, _, _ := plan.Place(p)
	l := &life{pod: p, slot: slot, created: s.now}
	s.change(l, func(p *corev1.Pod) {
		p.UID = types.UID("pod-" + strconv.Itoa(s.version))
		p.CreationTimestamp = *s.time()
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	})
	s.byName[p.Name] = l
	s.lives = append(s.lives, l)
	s.open(l)
	s.result.Summary.Pods++
	event := Event{Type: PodCreated}
	if limit := memoryLimit(&p.Spec); !limit.IsZero() {
		event.Memory = limit.String()
	}
	_, event.Changes = plan.CarriedRetries(p).Mend(&s.job.Spec.Template.Spec)
	if before := s.slots[l.slot]; before.failed {
		event.Delay = s.now - before.failure
	}
	s.addPodEvent(l, event)
	s.schedule(l.does.pending, func() { s.onNode(l, func() { s.start(l) }) }) // before the controller checks the pod
	s.blockStart(l)
	s.lookLater(l)
}

// write stores the Job's status, and records its changes as events.
func (s *simulator) write(job *batchv1.Job) {
	old := s.job.Status
	s.version++
	s.job = job
	s.job.ResourceVersion = strconv.Itoa(s.version)
	s.result.Summary.Writes++
	s.tellFailedIndexes(ptr.Deref(old.FailedIndexes, ""), ptr.Deref(job.Status.FailedIndexes, ""))
	for _, c := range job.Status.Conditions {
		same := func(o batchv1.JobCondition) bool { return o.Type == c.Type && o.Status == c.Status }
		if c.Type != plan.LedgerCondition && !slices.ContainsFunc(old.Conditions, same) { // the ledger repeats the contents of other events
			s.addJobEvent(Event{Type: JobCondition, Reason: string(c.Type), Message: conditionText(c)})
		}
	}
}

func (s *simulator) tellFailedIndexes(before, now string) {
	before, now = unlike(before, now)
	known := map[int]bool{}
	for _, index := range indexesOf(before) {
		known[index] = true
	}
	for _, index := range indexesOf(now) {
		if !known[index] {
			s.addJobEvent(Event{Type: IndexFailed, Index: new(index)})
		}
	}
}

func conditionText(c batchv1.JobCondition) string {
	text := c.Reason + ": " + c.Message
	if c.Status != corev1.ConditionTrue {
		text = string(c.Status) + ", " + text
	}
	return text
}

// forget removes pods that no longer matter to the controller, as if they had been garbage collected, to save memory. The
// last counted success matters, because it ends the back-off. A counted failure matters after that success, and while its
// index has no later attempt, because the next attempt number is derived from it. This keeps more pods than the
// controller needs, because the controller has some of the data in its ledger.
func (s *simulator) forget() {
	const afew = 32
	if s.keepAll || len(s.lives) <= 2*s.left+afew {
		return
	}
	last := s.lastSuccess()
	_, limited := s.job.Annotations[plan.FailedPodsLimitAnnotation]
	s.lives = slices.DeleteFunc(s.lives, func(l *life) bool {
		if l.stage != ended || len(l.pod.Finalizers) > 0 {
			return false
		}
		forgotten := l != last
		if l.pod.Status.Phase == corev1.PodFailed {
			old := s.job.Spec.BackoffLimitPerIndex != nil || last != nil && l.ended <= last.ended
			forgotten = old && !limited && l.attempt+1 < s.slots[l.slot].attempts
		}
		if forgotten {
			delete(s.byName, l.pod.Name)
			s.changed[l.pod.Name] = true
		}
		return forgotten
	})
	s.left = len(s.lives)
}

func (s *simulator) lastSuccess() *life {
	var last *life
	for _, l := range s.lives {
		if l.pod.Status.Phase == corev1.PodSucceeded && (last == nil || l.ended >= last.ended) {
			last = l
		}
	}
	return last
}
