package simulation

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// intervene carries out an intervention of the Script.
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
		s.drains[change.Drain] = true
	}
	for _, l := range slices.Clone(s.lives) {
		switch {
		case l.stage == ended || l.pod.DeletionTimestamp != nil:
		case change.Drain != "" && l.pod.Spec.NodeName == change.Drain, change.Evict != nil && change.evict.has(l.slot):
			s.evict(l)
		case change.Delete != nil && change.delete.has(l.slot):
			s.addPodEvent(l, Event{Type: PodDeleted})
			s.erase(l)
		}
	}
}

// evict does what the eviction API does: it sets a condition that says why, and deletes the pod.
func (s *simulator) evict(l *life) {
	s.change(l, func(p *corev1.Pod) {
		p.Status.Conditions = append(slices.Clone(p.Status.Conditions), corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: *s.time(),
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
	})
	s.addPodEvent(l, Event{Type: PodEvicted})
	s.erase(l)
}
