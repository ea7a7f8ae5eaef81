package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pendingPeriod is the number of seconds between two evaluations of a pod that does not start: the controller's default. The
// controller evaluates all pods at the same time. Here each pod has its own schedule, so that its fate does not depend on
// other pods.
const pendingPeriod = 10

// Reasons of events of the Job, as the controller records them.
const (
	reasonPendingDeleted = "PodDeletedByPolicy"
	reasonPendingError   = "PendingRuleError"
)

// Reasons why no node takes a pod, as the scheduler writes them.
const (
	reasonFull    = "Insufficient cpu"
	reasonDrained = "node(s) were unschedulable"
)

// blockStart keeps a new pod from starting if its rule says so.
func (s *simulator) blockStart(l *life) {
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

// reject marks a pod as unschedulable, as the scheduler does.
func (s *simulator) reject(l *life, because string) {
	s.change(l, func(p *corev1.Pod) { p.Status = unschedulableStatus(len(s.nodes), because, *s.time()) })
}

func (s *simulator) lookLater(l *life) {
	if s.looks {
		s.schedule(pendingPeriod, func() { s.checkPending(l) })
	}
}

// checkPending lets the controller decide on a pod, and repeats that while the pod has not started. If nothing comes of it, no Plan
// is made.
func (s *simulator) checkPending(l *life) {
	if s.byName[l.pod.Name] != l || l.pod.DeletionTimestamp != nil || l.pod.Status.Phase != corev1.PodPending {
		return
	}
	s.lookLater(l)
	if s.ctx.Err() != nil {
		s.quiet = false // makes Run notice
		return
	}
	if !binding.AtWork(s.job) {
		return
	}
	d := s.Selection.DecideLiving(s.ctx, runtime.Input{
		Pod: l.pod, Job: s.job, Attempt: plan.Attempt(s.job, l.pod), Attempts: plan.CarriedAttempts(l.pod), Now: s.time().Time,
	})
	switch d.Step {
	case binding.EndLiving:
		s.endPending(l, d)
	case binding.TellLiving:
		if !l.errorRecorded {
			s.addJobEvent(Event{Type: JobEvent, Reason: reasonPendingError, Message: d.Verdict.Err.Error()})
		}
		l.errorRecorded = true
	case binding.LeaveLiving, binding.WithdrawLiving, binding.AuditLiving: // audits are not simulated
	}
}

// endPending sets the condition that says why, and deletes the pod. What that means for the Job is decided when the pod has
// ended.
func (s *simulator) endPending(l *life, d binding.LivingDecision) {
	s.quiet = false
	condition := d.Conditions[0]
	condition.LastTransitionTime = *s.time()
	s.change(l, func(p *corev1.Pod) { p.Status.Conditions = append(slices.Clone(p.Status.Conditions), condition) })
	s.addPodEvent(l, Event{Type: PodDeleted, Reason: condition.Reason})
	s.addJobEvent(Event{Type: JobEvent, Reason: reasonPendingDeleted, Message: d.Note(s.job)})
	s.erase(l)
}

// anyRuns reports whether a container is running.
func anyRuns(p *corev1.Pod) bool {
	runs := func(c corev1.ContainerStatus) bool { return c.State.Running != nil }
	return slices.ContainsFunc(p.Status.InitContainerStatuses, runs) || slices.ContainsFunc(p.Status.ContainerStatuses, runs)
}
