package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pendingPeriod is how many seconds are between two looks at a pod that does not start: the controller's default. The
// controller looks at all pods at once, at times that have nothing to do with them; here each is looked at in its own time,
// so that what becomes of it does not depend on others.
const pendingPeriod = 10

// Reasons of events of the Job, as the controller records them.
const (
	reasonPendingDeleted = "PodDeletedByPolicy"
	reasonPendingError   = "PendingRuleError"
)

// Why nodes take no pod, as the scheduler says it.
const (
	reasonFull    = "Insufficient cpu"
	reasonDrained = "node(s) were unschedulable"
)

// hinder keeps a new pod from starting as its rule says.
func (s *simulator) hinder(l *life) {
	switch {
	case l.does.startupProblem.unschedulable:
		s.reject(l, reasonFull)
	case l.does.startupProblem.waiting != "":
		node, found := s.place()
		if !found {
			s.reject(l, reasonDrained)
			return
		}
		l.stage = waiting
		s.change(l, func(p *corev1.Pod) {
			p.Spec.NodeName = node
			p.Status = waitingStatus(p, l.does.startupProblem.waiting, *s.time())
		})
	}
}

// reject does what the scheduler does with a pod that it has no node for.
func (s *simulator) reject(l *life, because string) {
	s.change(l, func(p *corev1.Pod) { p.Status = unschedulableStatus(len(s.nodes), because, *s.time()) })
}

func (s *simulator) lookLater(l *life) {
	if s.looks {
		s.later(pendingPeriod, func() { s.look(l) })
	}
}

// look has the controller decide on a pod, and look again as long as the pod has not started. Time goes by without a Plan
// when nothing comes of it.
func (s *simulator) look(l *life) {
	if s.byName[l.pod.Name] != l || l.pod.DeletionTimestamp != nil || l.pod.Status.Phase != corev1.PodPending {
		return
	}
	s.lookLater(l)
	if s.ctx.Err() != nil {
		s.quiet = false // have run see it
		return
	}
	if !binding.AtWork(s.job) {
		return
	}
	d := s.Selection.DecidePending(s.ctx, runtime.Input{
		Pod: l.pod, Job: s.job, Attempt: plan.Attempt(s.job, l.pod), Now: s.time().Time,
	})
	switch d.Step {
	case binding.EndPending:
		s.endPending(l, d)
	case binding.TellPending:
		if !l.told {
			s.tellJob(Event{Type: JobEvent, Reason: reasonPendingError, Message: d.Verdict.Err.Error()})
		}
		l.told = true
	case binding.LeavePending, binding.WithdrawPending, binding.AuditPending: // audits are not simulated
	}
}

// endPending gives a pod the condition that says why, and deletes it. What that means is decided when it has ended.
func (s *simulator) endPending(l *life, d binding.PendingDecision) {
	s.quiet = false
	condition := d.Verdict.PodCondition()
	condition.LastTransitionTime = *s.time()
	s.change(l, func(p *corev1.Pod) { p.Status.Conditions = append(slices.Clone(p.Status.Conditions), condition) })
	s.tell(l, Event{Type: PodDeleted, Reason: condition.Reason})
	s.tellJob(Event{Type: JobEvent, Reason: reasonPendingDeleted, Message: d.Note(s.job)})
	s.erase(l)
}

// anyRuns reports whether some container has to be told to stop.
func anyRuns(p *corev1.Pod) bool {
	runs := func(c corev1.ContainerStatus) bool { return c.State.Running != nil }
	return slices.ContainsFunc(p.Status.InitContainerStatuses, runs) || slices.ContainsFunc(p.Status.ContainerStatuses, runs)
}
