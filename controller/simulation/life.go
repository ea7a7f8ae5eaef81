package simulation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/failure"
)

// life is that of a pod. Its pod is replaced, never changed, because Plans hold on to it.
type life struct {
	pod     *corev1.Pod
	slot    int
	attempt int // of the slot, from 0, restarts included
	does    behaviour
	stage   stage
	restart int // how often its containers were restarted
	record  int // of the current attempt in the result
	// dismissed is set when the controller ends the pod and does not count it, takenDown when it does.
	dismissed, takenDown bool
	told                 bool // that the rules on Pending could not be evaluated
}

type stage int

const (
	pending stage = iota // has no node
	waiting              // has one, and a container that does not start
	running
	crashed // waits to be restarted
	ended
)

// behaviour is what a pod does in an attempt.
type behaviour struct {
	pending, run, stop int64
	startupProblem     startupProblem
	outcome            outcome
}

// behave draws what an attempt does: the same for a seed, whatever else happens.
func (s *simulator) behave(index, attempt int) behaviour {
	random := rand.New(rand.NewPCG(s.Seed, uint64(index)<<32|uint64(attempt))) //nolint:gosec // to be repeatable is what it is for
	for _, r := range s.rules {
		if r.indexes.has(index) && r.attempts.has(attempt+1) && random.Float64() < r.probability {
			return behaviour{r.pending.draw(random), r.run.draw(random), r.stop.draw(random), r.startupProblem, r.outcome}
		}
	}
	return behaviour{pending: 1, run: 30, stop: 1}
}

// start gets the pod a node, unless it has one, and its containers running.
func (s *simulator) start(l *life) {
	if l.stage != pending && l.stage != waiting || l.pod.DeletionTimestamp != nil {
		return
	}
	node := l.pod.Spec.NodeName
	if l.stage == pending {
		var found bool
		if node, found = s.place(); !found {
			s.reject(l, reasonDrained) // it waits for ever
			return
		}
	}
	s.change(l, func(p *corev1.Pod) {
		p.Spec.NodeName = node
		p.Status = startedStatus(p, l.does.outcome, *s.time())
	})
	l.stage = running
	s.result.Attempts[l.record].Started = s.now
	s.tell(l, Event{Type: PodStarted})
	s.runOn(l)
}

// place returns the next node that takes pods.
func (s *simulator) place() (node string, found bool) {
	for range s.nodes {
		node = s.nodes[s.placed%len(s.nodes)]
		s.placed++
		if !s.drains[node] {
			return node, true
		}
	}
	return "", false
}

// runOn lets the containers run as long as they do.
func (s *simulator) runOn(l *life) {
	attempt := l.attempt
	s.later(l.does.run, func() {
		if l.stage == running && l.attempt == attempt && l.pod.DeletionTimestamp == nil {
			s.finish(l)
		}
	})
}

// later adds what is to be done after a delay.
func (s *simulator) later(delay int64, do func()) {
	if delay < forever {
		s.add(s.now+delay, do)
	}
}

// finish ends the containers in their own way.
func (s *simulator) finish(l *life) {
	s.quiet = false
	does := l.does.outcome
	onFailure := l.pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	if onFailure && does.failed(&l.pod.Spec) && !does.evicted() {
		s.crash(l)
		return
	}
	s.end(l, does)
}

// crash lets the kubelet restart the containers that failed (restartPolicy OnFailure), after its own back-off.
func (s *simulator) crash(l *life) {
	const first, longest = 10, 300
	delay := int64(min(first<<min(l.restart, 10), longest))
	s.change(l, func(p *corev1.Pod) { p.Status = crashedStatus(p, l.does.outcome, *s.time()) })
	l.stage = crashed
	l.restart++
	s.result.Summary.Restarts++
	s.tell(l, Event{Type: PodRestarting, Because: failure.Of(l.pod).Summary, Delay: delay})
	s.close(l, FateRestarted)
	s.later(delay, func() { s.startAgain(l) })
}

func (s *simulator) startAgain(l *life) {
	if l.stage != crashed || l.pod.DeletionTimestamp != nil {
		return
	}
	s.quiet = false
	s.open(l)
	s.result.Attempts[l.record].Started = s.now
	s.change(l, func(p *corev1.Pod) { p.Status = restartedStatus(p, l.does.outcome, *s.time()) })
	l.stage = running
	s.tell(l, Event{Type: PodStarted})
	s.runOn(l)
}

// open begins an attempt of the pod's slot.
func (s *simulator) open(l *life) {
	at := s.slots[l.slot]
	if at == nil {
		at = &slot{}
		s.slots[l.slot] = at
	}
	l.attempt, l.does = at.attempts, s.behave(l.slot, at.attempts)
	at.attempts++
	l.record = len(s.result.Attempts)
	s.result.Attempts = append(s.result.Attempts, Attempt{
		Index: l.slot, Number: l.attempt + 1, Created: s.now, Started: -1, Ended: -1, Deleted: -1, Fate: FateUnknown,
	})
}

// close ends the attempt.
func (s *simulator) close(l *life, fate Fate) {
	s.result.Attempts[l.record].Ended, s.result.Attempts[l.record].Fate = s.now, fate
	if fate != FateSucceeded {
		s.slots[l.slot].failed, s.slots[l.slot].failure = true, s.now
	}
}

// end brings the pod into its last phase.
func (s *simulator) end(l *life, does outcome) {
	over := l.stage == crashed // the attempt is
	s.change(l, func(p *corev1.Pod) { p.Status = finalStatus(p, does, *s.time()) })
	l.stage = ended
	switch {
	case l.dismissed:
		s.result.Summary.Stopped++
		s.tell(l, Event{Type: PodStopped})
		s.closeUnless(over, l, FateStopped)
	case l.pod.Status.Phase == corev1.PodSucceeded:
		s.result.Summary.Succeeded++
		s.tell(l, Event{Type: PodSucceeded})
		s.closeUnless(over, l, FateSucceeded)
	default:
		verdict := s.judge(l.pod, plan.Attempt(s.job, l.pod))
		s.result.Summary.Verdicts[string(verdict.Action)]++
		s.tell(l, Event{Type: PodFailed, Because: failure.Of(l.pod).Summary, Verdict: &verdict})
		fate := Fate(verdict.Action)
		if l.takenDown {
			fate = FateStopped
		}
		s.closeUnless(over, l, fate)
		if verdict.Budget.Limit > 0 {
			s.limited[l.pod.UID] = limitedFailure{event: len(s.result.Events) - 1, record: l.record}
		}
	}
	s.vanish(l)
}

func (s *simulator) closeUnless(closed bool, l *life, fate Fate) {
	if !closed {
		s.close(l, fate)
	}
}

// erase asks for the deletion of a pod, as the API server does.
func (s *simulator) erase(l *life) {
	if l.pod.DeletionTimestamp != nil {
		return
	}
	grace := ptr.Deref(l.pod.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if l.stage == pending || l.stage == ended {
		grace = 0
	}
	s.change(l, func(p *corev1.Pod) {
		at := s.timeAt(s.now + grace)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = at, &grace
	})
	if l.stage != ended {
		s.result.Attempts[l.record].Deleted = s.now
	}
	s.winddown(l, grace)
}

// winddown lets a pod end that is to be deleted.
func (s *simulator) winddown(l *life, grace int64) {
	const collector = 20 // the period of the garbage collector of pods, which ends those that no kubelet has
	switch l.stage {
	case ended:
		s.vanish(l)
	case pending:
		if s.vanish(l) {
			return
		}
		s.later(collector, func() { s.stop(l, outcome{collected: true}) })
	case waiting, running, crashed:
		stop := l.does.stop
		if l.stage == waiting && !anyRuns(l.pod) {
			stop = 1 // as long as the kubelet takes for it
		}
		s.later(min(stop, grace), func() { s.stop(l, stopped(&l.pod.Spec, stop > grace)) })
	}
}

func (s *simulator) stop(l *life, does outcome) {
	s.quiet = false
	if s.byName[l.pod.Name] == l && l.stage != ended {
		s.end(l, does)
	}
}
