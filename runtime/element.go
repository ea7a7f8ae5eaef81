package runtime

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// element is a container or condition that a rule looks at, alone in a status.
type element struct {
	status      corev1.PodStatus
	explanation ElementExplanation
}

// is reports whether the element is what a rule matched.
func (e *element) is(c cause) bool {
	switch {
	case len(e.status.ContainerStatuses) > 0:
		return c.container == &e.status.ContainerStatuses[0]
	case len(e.status.InitContainerStatuses) > 0:
		return c.container == &e.status.InitContainerStatuses[0]
	default:
		return c.condition == &e.status.Conditions[0]
	}
}

func elements(m compiler.Match, s *corev1.PodStatus) []element {
	var list []element
	switch m := m.(type) {
	case compiler.ExitCodes:
		for i := range s.ContainerStatuses {
			alone := corev1.PodStatus{ContainerStatuses: s.ContainerStatuses[i : i+1]}
			list = append(list, containerElement("container", m, &s.ContainerStatuses[i], alone))
		}
		for i := range s.InitContainerStatuses {
			alone := corev1.PodStatus{InitContainerStatuses: s.InitContainerStatuses[i : i+1]}
			list = append(list, containerElement("initContainer", m, &s.InitContainerStatuses[i], alone))
		}
	case compiler.PodConditions:
		for i := range s.Conditions {
			alone := corev1.PodStatus{Conditions: s.Conditions[i : i+1]}
			list = append(list, conditionElement(m, &s.Conditions[i], alone))
		}
	case compiler.Never:
	}
	return list
}

func containerElement(kind string, m compiler.ExitCodes, c *corev1.ContainerStatus, alone corev1.PodStatus) element {
	return element{alone, ElementExplanation{
		Kind: kind, Name: c.Name, Observed: state(c), Because: exitCodeBecause(m, c),
	}}
}

func conditionElement(m compiler.PodConditions, c *corev1.PodCondition, alone corev1.PodStatus) element {
	return element{alone, ElementExplanation{
		Kind: "condition", Name: string(c.Type), Observed: string(c.Status), Because: conditionBecause(m, c),
	}}
}

func state(c *corev1.ContainerStatus) string {
	switch s := c.State; {
	case s.Terminated != nil:
		return "exit code " + strconv.Itoa(int(s.Terminated.ExitCode))
	case s.Running != nil:
		return "running"
	default:
		return "waiting"
	}
}
