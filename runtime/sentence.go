package runtime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

// because returns a sentence that explains why a rule of a podFailurePolicy matched or not, from the explanations of
// its elements.
func (p *Policy) because(match compiler.Match, r *RuleExplanation) string {
	for _, e := range r.Elements {
		if e.Matched {
			return fmt.Sprintf("%s %s: %s", e.Kind, e.Name, e.Because)
		}
	}
	switch m := match.(type) {
	case compiler.ExitCodes:
		if len(r.Elements) == 0 {
			return "the pod has no container statuses"
		}
		return noContainer(m)
	case compiler.PodConditions:
		return "the pod has no condition " + patterns(m)
	default:
		return skipped(r.Action, p.own.environment.Kubernetes)
	}
}

func noContainer(m compiler.ExitCodes) string {
	what := m.Phrase()
	if m.Container != nil {
		return fmt.Sprintf("container %s has not failed with an exit code %s %s", *m.Container, what, codes(m.Values))
	}
	return fmt.Sprintf("no container has failed with an exit code %s %s", what, codes(m.Values))
}

func patterns(m compiler.PodConditions) string {
	text := make([]string, len(m.Patterns))
	for i, p := range m.Patterns {
		text[i] = string(p.Type) + "=" + string(p.Status)
	}
	return strings.Join(cut(text), " or ")
}

// skipped returns the reason why a rule never matches (compiler.Never).
func skipped(action batchv1.PodFailurePolicyAction, kubernetes string) string {
	switch action {
	case batchv1.PodFailurePolicyActionFailIndex:
		return fmt.Sprintf("the rule is skipped: Kubernetes %s does not act on FailIndex, or its operator is not known, or it asks for nothing", kubernetes)
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount:
		return "the rule is skipped: its operator is not known, or it asks for nothing"
	default:
		return fmt.Sprintf("the rule is skipped: action %q is not known", action)
	}
}

// exitCodeBecause follows the terms of the expression. The first one that is false is the reason.
func exitCodeBecause(m compiler.ExitCodes, c *corev1.ContainerStatus) string {
	t := c.State.Terminated
	switch {
	case t == nil:
		return "has no exit code: it is " + observed(c)
	case t.ExitCode == 0:
		return "exit code 0 never matches"
	case m.Container != nil && *m.Container != c.Name:
		return "is not container " + *m.Container
	case m.Lists(t.ExitCode):
		return fmt.Sprintf("exit code %d is in %s", t.ExitCode, codes(m.Values))
	default:
		return fmt.Sprintf("exit code %d is not in %s", t.ExitCode, codes(m.Values))
	}
}

func conditionBecause(m compiler.PodConditions, c *corev1.PodCondition) string {
	var asked []string
	for _, p := range m.Patterns {
		if status := string(p.Status); p.Type == c.Type && !slices.Contains(asked, status) {
			asked = append(asked, status)
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

func codes(values []int32) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = strconv.Itoa(int(v))
	}
	return "[" + strings.Join(cut(text), ", ") + "]"
}

// maxListed is the maximum number of values that a sentence lists before it counts the rest.
const maxListed = 8

func cut(text []string) []string {
	if more := len(text) - maxListed; more > 0 {
		return append(text[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return text
}
