package runtime

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// node evaluates one recognized expression on the typed pod, with no allocation.
// It gives the same answer as the expression, and what in the pod it matched.
type node interface {
	match(status *corev1.PodStatus) cause
}

// cause is what in a pod a rule matched; the zero cause is no match.
type cause struct {
	container *corev1.ContainerStatus
	condition *corev1.PodCondition
}

func newNode(m compiler.Match) node {
	switch m := m.(type) {
	case compiler.ExitCodes:
		return newExitCodes(m)
	case compiler.PodConditions:
		return newConditions(m)
	default:
		return never{}
	}
}

type never struct{}

func (never) match(*corev1.PodStatus) cause { return cause{} }

// exitCodes holds the listed codes 0 to 255, which all of Linux's are, as bits.
type exitCodes struct {
	bytes     [4]uint64
	others    []int32
	container string
	named     bool
	not       bool
}

func newExitCodes(m compiler.ExitCodes) *exitCodes {
	n := &exitCodes{not: m.Not}
	if m.Container != nil {
		n.container, n.named = *m.Container, true
	}
	for _, v := range m.Values {
		if v >= 0 && v <= 255 {
			n.bytes[v>>6] |= 1 << (v & 63)
		} else {
			n.others = append(n.others, v)
		}
	}
	return n
}

// match looks at containers before init containers, each in the pod's order, as
// upstream does: the first one found is named in the message.
func (n *exitCodes) match(status *corev1.PodStatus) cause {
	if c := n.find(status.ContainerStatuses); c != nil {
		return cause{container: c}
	}
	if c := n.find(status.InitContainerStatuses); c != nil {
		return cause{container: c}
	}
	return cause{}
}

func (n *exitCodes) find(list []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range list {
		t := list[i].State.Terminated
		if t == nil || t.ExitCode == 0 || n.named && list[i].Name != n.container {
			continue
		}
		if n.contains(t.ExitCode) != n.not {
			return &list[i]
		}
	}
	return nil
}

func (n *exitCodes) contains(code int32) bool {
	if code >= 0 && code <= 255 {
		return n.bytes[code>>6]&(1<<(code&63)) != 0
	}
	return slices.Contains(n.others, code)
}

// conditions compares with few patterns one by one, and looks many up by type.
type conditions struct {
	patterns []batchv1.PodFailurePolicyOnPodConditionsPattern
	byType   map[corev1.PodConditionType][]corev1.ConditionStatus
}

// fewPatterns is how many patterns are compared faster than looked up.
const fewPatterns = 4

func newConditions(m compiler.PodConditions) *conditions {
	if len(m.Patterns) <= fewPatterns {
		return &conditions{patterns: m.Patterns}
	}
	byType := make(map[corev1.PodConditionType][]corev1.ConditionStatus, len(m.Patterns))
	for _, p := range m.Patterns {
		byType[p.Type] = append(byType[p.Type], p.Status)
	}
	return &conditions{byType: byType}
}

// match takes the first condition in the pod's order, not in that of the
// patterns, as upstream does.
func (n *conditions) match(status *corev1.PodStatus) cause {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; n.contains(c.Type, c.Status) {
			return cause{condition: c}
		}
	}
	return cause{}
}

func (n *conditions) contains(t corev1.PodConditionType, s corev1.ConditionStatus) bool {
	for i := range n.patterns {
		if n.patterns[i].Type == t && n.patterns[i].Status == s {
			return true
		}
	}
	return n.byType != nil && slices.Contains(n.byType[t], s)
}
