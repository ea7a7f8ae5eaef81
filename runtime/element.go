package runtime

import (
	"strconv"

	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// element describes one element of a loop. It returns false for an element that is neither a container nor a
// condition.
func (p *parts) element(value ref.Val) (ElementExplanation, bool) {
	switch v := value.Value().(type) {
	case cel.Container:
		kind := string(v.Kind)
		if v.Kind == cel.KindInit {
			kind = kindInitContainer
		}
		return ElementExplanation{Kind: kind, Name: v.Status.Name, Observed: observed(v.Status)}, true
	case *corev1.ContainerStatus:
		e := ElementExplanation{Kind: p.kindOf(v), Name: v.Name, Observed: observed(v)}
		if m, ok := p.match.(compiler.ExitCodes); ok {
			e.Because = exitCodeBecause(m, v)
		}
		return e, true
	case *corev1.PodCondition:
		e := ElementExplanation{Kind: "condition", Name: string(v.Type), Observed: string(v.Status)}
		if m, ok := p.match.(compiler.PodConditions); ok {
			e.Because = conditionBecause(m, v)
		}
		return e, true
	default:
		return ElementExplanation{}, false
	}
}

const kindInitContainer = "initContainer"

func (p *parts) kindOf(c *corev1.ContainerStatus) string {
	inits := p.frame.Pod.Status.InitContainerStatuses
	for i := range inits {
		if &inits[i] == c {
			return kindInitContainer
		}
	}
	return "container"
}

// observed returns a container's exit code, or its state if it has none.
func observed(c *corev1.ContainerStatus) string {
	switch s := c.State; {
	case s.Terminated != nil:
		return "exit code " + strconv.Itoa(int(s.Terminated.ExitCode))
	case s.Running != nil:
		return cel.StateRunning
	default:
		return cel.StateWaiting
	}
}
