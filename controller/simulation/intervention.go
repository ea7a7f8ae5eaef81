package simulation

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// intervene applies an intervention of the Script.
func (s *simulator) intervene(change intervention) {
	s.quiet = false
	s.addJobEvent(Event{Type: JobChanged, Message: changeText(change, s.result.Unit)})
	job := s.job.DeepCopy()
	if change.Suspend != nil {
		job.Spec.Suspend = change.Suspend
	}
	if change.Parallelism != nil {
		job.Spec.Parallelism = change.Parallelism
	}
	if change.Completions != nil {
		job.Spec.Completions = change.Completions
	}
	s.version++
	job.ResourceVersion = strconv.Itoa(s.version)
	s.job = job
	if change.Drain != "" {
		s.drainNode(s.nodeNamed(change.Drain))
	}
	for _, l := range slices.Clone(s.lives) {
		switch {
		case l.stage == ended || l.pod.DeletionTimestamp != nil:
		case change.Drain != "" && l.pod.Spec.NodeName == change.Drain, change.Evict != nil && change.evict.has(l.slot):
			s.evict(l, podstatus.EvictedByAPI)
		case change.Delete != nil && change.delete.has(l.slot):
			s.addPodEvent(l, Event{Type: PodDeleted})
			s.erase(l)
		}
	}
	for _, on := range []struct {
		node string
		do   func(*node)
	}{{change.Lose, s.loseNode}, {change.OutOfService, s.takeOutNode}, {change.Restore, s.restoreNode}} {
		if on.node != "" {
			on.do(s.nodeNamed(on.node))
		}
	}
}

// drainNode makes a node unschedulable.
func (s *simulator) drainNode(n *node) {
	n.change(func(object *corev1.Node) {
		object.Spec.Unschedulable = true
		scenarios.Taint(object, corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule, *s.time())
	})
}

// evict sets the condition with the cause, and deletes the pod.
func (s *simulator) evict(l *life, cause podstatus.Cause) {
	s.report(l, func(p *corev1.Pod) { cause.Write(p, *s.time()) })
	s.addPodEvent(l, Event{Type: PodEvicted})
	s.erase(l)
}
