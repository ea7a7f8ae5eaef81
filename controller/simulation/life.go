package simulation

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// life is the state of a pod. The pod object is replaced, never changed, because Plans keep references to it.
type life struct {
	pod     *corev1.Pod
	slot    int
	attempt int // attempt at the slot, from 0, restarts included
	does    behaviour
	stage   stage
	// started and ended are the times when the attempt's containers started and ended, or -1. An attempt may end before
	// its pod.
	started, ended int64
	deleted        int64 // time when the pod's deletion was requested, if it was
	// restart is the number of times its containers were restarted, and why is the reason for the last restart.
	restart int
	why     string
	// The back-off before the next start is wait seconds, unless the containers have run for long since restarted.
	wait, restarted int64
	// dismissed is true if the controller ends the pod without counting it, takenDown if it counts it.
	dismissed, takenDown bool
	// placeless is true if no node accepts the pod, and held if it was ended on a lost node, whose kubelet has not
	// confirmed it.
	placeless, held bool
	// created is the time when the controller created the pod, looking is true if its next evaluation is scheduled, and
	// recorded has the reasons of events that are recorded only once.
	created  int64
	looking  bool
	recorded []string
}

type stage int

const (
	pending stage = iota // has no node
	waiting              // has a node, and a container that does not start
	running
	crashed // waits for a restart
	ended
)

// behaviour describes a pod's behaviour in one attempt.
type behaviour struct {
	pending, ready, run, stop int64
	stopCode                  int32
	startupProblem            startupProblem
	needs                     int64
	outcome                   outcome
}

// behave chooses the behaviour of an attempt. It depends only on seed, index and attempt.
func (s *simulator) behave(index, attempt int) behaviour {
	random := rand.New(rand.NewPCG(s.Seed, uint64(index)<<32|uint64(attempt))) //nolint:gosec // results must be repeatable
	for _, r := range s.rules {
		if r.indexes.has(index) && r.attempts.has(attempt+1) && random.Float64() < r.probability {
			pending, run, stop := r.pending.draw(random), r.run.draw(random), r.stop.draw(random)
			return behaviour{pending, r.ready.draw(random), run, stop, r.stopCode, r.startupProblem, r.needs, r.outcome}
		}
	}
	return behaviour{pending: 1, run: 30, stop: 1, stopCode: podstatus.CodeTerminated}
}

// start assigns the pod to a node, unless it has one, and starts its containers.
func (s *simulator) start(l *life) {
	if l.stage != pending && l.stage != waiting || l.pod.DeletionTimestamp != nil {
		return
	}
	node := l.pod.Spec.NodeName
	if l.stage == pending {
		var found bool
		if node, found = s.place(l); !found {
			return // it waits forever
		}
	}
	s.report(l, func(p *corev1.Pod) {
		p.Spec.NodeName = node
		podstatus.StartInit(p, l.does.outcome.failsToStart(&p.Spec), *s.time())
	})
	l.stage = running
	l.started = s.now
	s.addPodEvent(l, Event{Type: PodStarted})
	s.runOn(l)
	s.lookLater(l)
}

// runOn schedules the times when the containers become ready and when they end. On a lost node they end even if the pod
// was deleted meanwhile, because its kubelet does not know.
func (s *simulator) runOn(l *life) {
	attempt := l.attempt
	runs := func() bool { return l.stage == running && l.attempt == attempt }
	if l.does.ready > 0 && l.pod.Status.Phase == corev1.PodRunning {
		s.setReady(l, false)
		s.schedule(l.does.ready, func() {
			s.onNode(l, func() {
				if runs() {
					s.setReady(l, true)
				}
			})
		})
	}
	s.schedule(l.does.run, func() {
		lost := s.silent(l)
		s.onNode(l, func() {
			if runs() && (lost || l.pod.DeletionTimestamp == nil) {
				s.finish(l)
			}
		})
	})
}

// setReady sets the result of the first container's readiness probe.
func (s *simulator) setReady(l *life, ready bool) {
	s.report(l, func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].Ready = ready
		podstatus.Report(p, podstatus.SandboxReady, *s.time())
	})
}

// schedule schedules a function after a delay.
func (s *simulator) schedule(delay int64, do func()) {
	if delay < forever {
		s.add(s.now+delay, do)
	}
}

// finish ends the containers according to the attempt's behaviour. If containers restart in place, the pod goes on.
func (s *simulator) finish(l *life) {
	does := l.does.outcome
	if !does.evicted() {
		exited := *l.pod
		exited.Status = *l.pod.Status.DeepCopy()
		does.exit(&exited, *s.time())
		if again := restart.Again(&exited, s.gates); len(again) > 0 {
			s.restartInPlace(l, &exited, again)
			return
		}
	}
	s.quiet = false
	s.end(l, does)
}

// open records the start of an attempt at the pod's slot.
func (s *simulator) open(l *life) {
	at := s.slots[l.slot]
	if at == nil {
		at = &slot{}
		s.slots[l.slot] = at
	}
	l.attempt, l.does = at.attempts, s.behave(l.slot, at.attempts)
	if limit := memoryLimit(&l.pod.Spec); !limit.IsZero() && limit.Value() < l.does.needs {
		l.does.outcome = outcomeOf(Rule{OOM: true}, s.job)
	}
	at.attempts++
	l.started, l.ended = -1, -1
}

// close records the end of the attempt, unless it has ended already.
func (s *simulator) close(l *life, succeeded bool) {
	if l.ended >= 0 {
		return
	}
	l.ended = s.now
	s.result.Summary.PodSeconds += s.ran(l)
	if !succeeded {
		s.result.Summary.WastedSeconds += s.ran(l)
		s.slots[l.slot].failed, s.slots[l.slot].failure = true, s.now
	}
}

// ran returns the run time of the attempt so far.
func (s *simulator) ran(l *life) int64 {
	if l.started < 0 {
		return 0
	}
	return s.now - l.started
}

// end moves the pod to its final phase.
func (s *simulator) end(l *life, does outcome) {
	s.report(l, func(p *corev1.Pod) { does.end(p, *s.time()) })
	l.stage = ended
	succeeded := false
	switch {
	case l.dismissed:
		s.result.Summary.Stopped++
		s.addPodEvent(l, Event{Type: PodStopped})
	case l.pod.Status.Phase == corev1.PodSucceeded:
		succeeded = true
		s.result.Summary.Succeeded++
		s.addPodEvent(l, Event{Type: PodSucceeded})
	default:
		verdict := s.judge(l.pod, plan.Attempt(s.job, l.pod))
		s.result.Summary.Verdicts[string(verdict.Action)]++
		s.addPodEvent(l, Event{Type: PodFailed, Because: failure.Of(l.pod).Summary, Verdict: &verdict})
		if verdict.Budget.Limit > 0 {
			s.limited[l.pod.UID] = len(s.result.Events) - 1
		}
	}
	s.close(l, succeeded)
	s.vanish(l)
}

// erase deletes a pod, as the API server does.
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
		l.deleted = s.now
	}
	s.winddown(l, grace)
	s.lookLater(l)
}

// winddown ends a pod that is being deleted.
func (s *simulator) winddown(l *life, grace int64) {
	switch l.stage {
	case ended:
		s.vanish(l)
	case pending:
		if s.vanish(l) {
			return
		}
		s.schedule(collection, func() { s.stop(l, outcome{collected: true}) })
	case waiting, running, crashed:
		if n := s.known[l.pod.Spec.NodeName]; n != nil {
			s.collect(l, n)
		}
		s.onNode(l, func() { s.kill(l, grace) })
	}
}

// kill makes the kubelet end a pod that is being deleted.
func (s *simulator) kill(l *life, grace int64) {
	stop, code := l.does.stop, l.does.stopCode
	if l.stage == waiting && !anyRuns(l.pod) {
		stop = 1 // the kubelet's own delay
	}
	if stop > grace {
		code = podstatus.CodeKilled
	}
	s.schedule(min(stop, grace), func() {
		s.onNode(l, func() { s.stop(l, stopped(&l.pod.Spec, code)) })
	})
}

func (s *simulator) stop(l *life, does outcome) {
	s.quiet = false
	if s.byName[l.pod.Name] == l && l.stage != ended {
		s.end(l, does)
	}
}
