package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// place returns the next node that accepts a pod. If none does, it rejects the pod. In the pod's node affinity it reads
// only NotIn of kubernetes.io/hostname: nodes in all required terms are excluded, and nodes in a preferred term come
// last.
func (s *simulator) place(l *life) (node string, found bool) {
	var affinity corev1.NodeAffinity
	if given := l.pod.Spec.Affinity; given != nil && given.NodeAffinity != nil {
		affinity = *given.NodeAffinity
	}
	refused, last := map[string]int{}, 0
	for i := range s.nodes {
		node = s.nodes[(s.placed+i)%len(s.nodes)]
		refusal := s.known[node].refusal()
		if refusal == "" && isExcluded(affinity, node) {
			refusal = podstatus.NoAffinity
		}
		switch {
		case refusal != "":
			refused[refusal]++
		case !isAvoided(affinity, node):
			s.placed += i + 1
			return node, true
		case last == 0:
			last = i + 1
		}
	}
	if last > 0 {
		s.placed += last
		return s.nodes[(s.placed-1)%len(s.nodes)], true
	}
	l.placeless = true
	s.reject(l, refused)
	return "", false
}

// isExcluded reports whether a pod must not run on a node.
func isExcluded(affinity corev1.NodeAffinity, node string) bool {
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	return required != nil && !slices.ContainsFunc(required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool { return !excludes(t, node) })
}

// isAvoided reports whether a pod prefers other nodes.
func isAvoided(affinity corev1.NodeAffinity, node string) bool {
	preferred := affinity.PreferredDuringSchedulingIgnoredDuringExecution
	return slices.ContainsFunc(preferred, func(t corev1.PreferredSchedulingTerm) bool { return excludes(t.Preference, node) })
}

// excludes reports whether a term excludes a node by name.
func excludes(term corev1.NodeSelectorTerm, node string) bool {
	return slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
		return e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpNotIn && slices.Contains(e.Values, node)
	})
}

// reject marks a pod as unschedulable, given the number of nodes for each reason.
func (s *simulator) reject(l *life, nodes map[string]int) {
	s.report(l, func(p *corev1.Pod) { podstatus.Unschedulable(p, nodes, *s.time()) })
}
