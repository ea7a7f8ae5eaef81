package runtime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// element is a container or condition that a rule looks at, alone in a status.
type element struct {
	status      corev1.PodStatus
	explanation ElementExplanation
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

// exitCodeBecause follows the terms of the expression: the first that fails is
// the reason.
func exitCodeBecause(m compiler.ExitCodes, c *corev1.ContainerStatus) string {
	t := c.State.Terminated
	switch {
	case t == nil:
		return "has no exit code: it is " + state(c)
	case t.ExitCode == 0:
		return "exit code 0 never matches"
	case m.Container != nil && *m.Container != c.Name:
		return "is not container " + *m.Container
	case slices.Contains(m.Values, t.ExitCode):
		return fmt.Sprintf("exit code %d is in %s", t.ExitCode, codes(m.Values))
	default:
		return fmt.Sprintf("exit code %d is not in %s", t.ExitCode, codes(m.Values))
	}
}

func conditionBecause(m compiler.PodConditions, c *corev1.PodCondition) string {
	var asked []string
	for _, p := range m.Patterns {
		if p.Type == c.Type {
			asked = append(asked, string(p.Status))
		}
	}
	switch {
	case len(asked) == 0:
		return "is not asked for"
	case slices.Contains(asked, string(c.Status)):
		return "status is " + string(c.Status)
	default:
		return fmt.Sprintf("status is %s, not %s", c.Status, strings.Join(asked, " or "))
	}
}

// maxListed is how many values a sentence lists before it counts the rest.
const maxListed = 8

func codes(values []int32) string {
	text := make([]string, 0, maxListed)
	for _, v := range values[:min(len(values), maxListed)] {
		text = append(text, strconv.Itoa(int(v)))
	}
	if more := len(values) - maxListed; more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return "[" + strings.Join(text, " ") + "]"
}

// because sums the elements up.
func because(m compiler.Match, elements []ElementExplanation) string {
	for _, e := range elements {
		if e.Matched {
			return fmt.Sprintf("%s %s: %s", e.Kind, e.Name, e.Because)
		}
	}
	switch m := m.(type) {
	case compiler.ExitCodes:
		if len(elements) == 0 {
			return "the pod has no container statuses"
		}
		return noContainer(m)
	case compiler.PodConditions:
		return "the pod has no condition " + patterns(m)
	default:
		return "the rule is skipped: its action or operator is not known to this Kubernetes version, or it asks for nothing"
	}
}

func noContainer(m compiler.ExitCodes) string {
	who, what := "no container", "in"
	if m.Container != nil {
		who = "container " + *m.Container + " has not"
	} else {
		who += " has"
	}
	if m.Not {
		what = "other than 0 and those in"
	}
	return fmt.Sprintf("%s failed with an exit code %s %s", who, what, codes(m.Values))
}

func patterns(m compiler.PodConditions) string {
	text := make([]string, 0, maxListed)
	for _, p := range m.Patterns[:min(len(m.Patterns), maxListed)] {
		text = append(text, string(p.Type)+"="+string(p.Status))
	}
	if more := len(m.Patterns) - maxListed; more > 0 {
		text = append(text, fmt.Sprintf("%d more", more))
	}
	return strings.Join(text, " or ")
}
