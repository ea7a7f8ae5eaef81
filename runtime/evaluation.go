package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime/internal/closure"
)

// evaluation evaluates expressions of one policy for one pod. It is reused for other pods.
type evaluation struct {
	policy *Policy
	ctx    context.Context //nolint:containedctx // CEL resolves variables without passing a context
	in     Input
	// frame holds the parts of the Input that closures read. They leave everything else to the interpreter.
	frame closure.Frame
	// interpreter is nil until an expression needs it.
	interpreter *interpreter
}

// evaluations is a pool, so that an evaluation does not allocate.
var evaluations = sync.Pool{New: func() any { return &evaluation{} }}

func (p *Policy) begin(ctx context.Context, in Input) *evaluation {
	e, _ := evaluations.Get().(*evaluation)
	if in.Job == nil {
		in.Job = &noJob
	}
	e.policy, e.ctx, e.in = p, ctx, in
	e.frame.Variables(len(p.variables))
	e.frame.Pod, e.frame.Job, e.frame.Attempt, e.frame.Now, e.frame.Node = in.Pod, in.Job, in.Attempt, in.Now, in.Node
	return e
}

func (e *evaluation) end() {
	if e.interpreter != nil {
		e.interpreter.release()
		e.interpreter = nil
	}
	e.frame.Reset()
	e.policy, e.ctx, e.in = nil, nil, Input{}
	evaluations.Put(e)
}

// bool evaluates an expression by closures, or by the interpreter if they are undecided.
func (e *evaluation) bool(x *expression) (bool, error) {
	if x.closure.Find != nil && !e.policy.interpret {
		return x.closure.Find(&e.frame.Pod.Status) != closure.Element{}, nil
	}
	if x.closure.Bool != nil && !e.policy.interpret {
		switch x.closure.Bool(&e.frame) {
		case closure.Yes:
			return true, nil
		case closure.No:
			return false, nil
		case closure.Undecided:
		}
	}
	value, err := e.interpret(x)
	if err != nil {
		return false, e.policy.evaluationError(x, err)
	}
	b, ok := value.(types.Bool)
	if !ok {
		return false, e.policy.evaluationError(x, fmt.Errorf("unexpected result of type %T", value))
	}
	return bool(b), nil
}

// message evaluates a messageExpression and trims surrounding white space.
func (e *evaluation) message(x *expression) (string, error) {
	text, err := e.string(x)
	if err != nil {
		return "", e.policy.evaluationError(x, err)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", e.policy.evaluationError(x, errors.New("the message is empty"))
	case len(text) > custom.MaxMessage:
		return "", e.policy.evaluationError(x, fmt.Errorf("the message has %d bytes: at most %d are shown", len(text), custom.MaxMessage))
	}
	return text, nil
}

func (e *evaluation) string(x *expression) (string, error) {
	if x.closure.String != nil && !e.policy.interpret {
		if text, ok := x.closure.String(&e.frame); ok {
			return text, nil
		}
	}
	value, err := e.interpret(x)
	if err != nil {
		return "", err
	}
	text, ok := value.(types.String)
	if !ok {
		return "", fmt.Errorf("unexpected result of type %T", value)
	}
	return string(text), nil
}

// find returns the first container or condition for which the expression of a podFailurePolicy is true when the pod's status
// contains nothing else.
func (e *evaluation) find(r *rule) (closure.Element, error) {
	pod := e.in.Pod
	defer func() { e.in.Pod = pod }()
	for _, alone := range single(&pod.Status) {
		e.in.Pod = &corev1.Pod{Status: alone.status}
		found, err := e.interpret(r.when)
		switch {
		case err != nil:
			return closure.Element{}, e.policy.evaluationError(r.when, err)
		case found == types.True:
			return alone.element, nil
		}
	}
	// This would be a bug: the expression is true for the pod, but for none of its containers and conditions separately.
	return closure.Element{}, e.policy.evaluationError(r.when, errors.New("the expression is true, but nothing in the pod matches the rule"))
}

// aloneElement is a container or condition, with a pod status that contains nothing else.
type aloneElement struct {
	status  corev1.PodStatus
	element closure.Element
}

// single returns the containers, init containers and conditions of a pod, each in a status of its own, in the order in which
// podFailurePolicy evaluates them.
func single(s *corev1.PodStatus) []aloneElement {
	var all []aloneElement
	for i := range s.ContainerStatuses {
		all = append(all, aloneElement{corev1.PodStatus{ContainerStatuses: s.ContainerStatuses[i : i+1]}, closure.Element{Container: &s.ContainerStatuses[i]}})
	}
	for i := range s.InitContainerStatuses {
		all = append(all, aloneElement{corev1.PodStatus{InitContainerStatuses: s.InitContainerStatuses[i : i+1]}, closure.Element{Container: &s.InitContainerStatuses[i]}})
	}
	for i := range s.Conditions {
		all = append(all, aloneElement{corev1.PodStatus{Conditions: s.Conditions[i : i+1]}, closure.Element{Condition: &s.Conditions[i]}})
	}
	return all
}
