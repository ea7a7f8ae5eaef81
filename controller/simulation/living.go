package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

const (
	// livingPeriod is the number of seconds between two evaluations of a living pod: the controller's default. The
	// controller evaluates all pods at the same time. Here each pod has its own schedule, so that its fate does not
	// depend on other pods.
	livingPeriod = 10
	// lostPeriod is the number of seconds after which a pod that was ended on a lost node is removed: the controller's
	// default.
	lostPeriod = 60
)

// Reasons of the Job's events, as the controller records them.
const (
	reasonEnded     = "PodEndedByPolicy"
	reasonRemoved   = "LostPodRemoved"
	reasonAudited   = "PodWouldBeEnded"
	reasonRuleError = "LivingRuleError"
)

// lookLater schedules the next evaluation of a pod, if rules may match it in its phase.
func (s *simulator) lookLater(l *life) {
	if l.looking || !s.looks[v1alpha1.PhaseOf(l.pod)] {
		return
	}
	l.looking = true
	age := s.now - l.created
	s.schedule(livingPeriod-age%livingPeriod, func() {
		l.looking = false
		s.look(l)
	})
}

// look lets the controller decide on a pod, and repeats that while the pod lives. If the decision has no effect, no Plan
// is made.
func (s *simulator) look(l *life) {
	if s.byName[l.pod.Name] != l || l.stage == ended {
		return
	}
	s.lookLater(l)
	if s.ctx.Err() != nil {
		s.quiet = false // makes Run notice
		return
	}
	if l.pod.DeletionTimestamp == nil && !binding.AtWork(s.job) {
		return
	}
	switch d := s.Selection.DecideLiving(s.ctx, s.input(l.pod, plan.Attempt(s.job, l.pod))); d.Step {
	case binding.EndLiving:
		s.endLiving(l, d)
	case binding.AuditLiving:
		if l.once(reasonAudited) {
			s.addPodEvent(l, Event{Type: PodSpared, Verdict: &d.Verdict, Message: d.Reason})
			s.addJobEvent(Event{Type: JobEvent, Reason: reasonAudited, Message: d.Note(s.job) + "; the pod is not ended: " + d.Reason})
		}
	case binding.TellLiving:
		if l.once(reasonRuleError) {
			s.addJobEvent(Event{Type: JobEvent, Reason: reasonRuleError, Message: d.Verdict.Err.Error()})
		}
	case binding.LeaveLiving, binding.WithdrawLiving: // calls have no latency, so a pod with the condition has ended
	}
}

// once reports whether an event of a pod was not recorded before.
func (l *life) once(reason string) bool {
	if slices.Contains(l.recorded, reason) {
		return false
	}
	l.recorded = append(l.recorded, reason)
	return true
}

// input returns the input of rules for a pod.
func (s *simulator) input(p *corev1.Pod, attempt int64) runtime.Input {
	seen := snapshot.Pod{Object: p, Attempt: attempt, Earlier: plan.CarriedAttempts(p), Node: s.nodeOf(p), NodesRead: true}
	return seen.Input(s.job, s.time().Time)
}

// endLiving sets conditions with the reason, and ends the pod: by deletion, or by phase Failed if its node is lost. The
// effect on the Job is decided when the pod has ended.
func (s *simulator) endLiving(l *life, d binding.LivingDecision) {
	s.quiet = false
	s.report(l, func(p *corev1.Pod) {
		for _, c := range d.Conditions {
			podstatus.SetCondition(p, c, *s.time())
		}
	})
	event := Event{Type: PodDeleted, Reason: d.Conditions[0].Reason, Message: string(d.Conditions[0].Type)}
	if d.Phase == v1alpha1.PhaseTerminating {
		event.Type = PodEnded
	}
	s.addPodEvent(l, event)
	s.addJobEvent(Event{Type: JobEvent, Reason: reasonEnded, Message: d.Note(s.job)})
	if d.Phase != v1alpha1.PhaseTerminating {
		s.erase(l)
		return
	}
	l.held = true
	s.end(l, outcome{collected: true})
	s.schedule(lostPeriod, func() {
		if l.held {
			s.addPodEvent(l, Event{Type: PodRemoved})
			s.addJobEvent(Event{Type: JobEvent, Reason: reasonRemoved, Message: d.Note(s.job)})
			s.letGo(l)
		}
	})
}

// letGo removes a pod that was ended on a lost node, unless something else holds it.
func (s *simulator) letGo(l *life) {
	l.held = false
	s.vanish(l)
}
