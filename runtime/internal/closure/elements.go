package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// source is the origin of a list's elements.
type source uint8

const (
	allContainers source = iota
	failedContainers
	containerStatuses
	initContainerStatuses
	conditions
)

// elements is a list of the pod's containers, container statuses or conditions, reduced by
// filters.
type elements struct {
	source
	// required is true if CEL has an error for an empty list, because the field is then absent.
	required bool
	filters  []filter
}

// filter keeps the elements for which the predicate is true. The predicate reads the element from a slot.
type filter struct {
	slot      int
	predicate boolean
}

// local is the value of a loop's variable: a container, a container status or a condition.
type local struct {
	container cel.Container
	condition *corev1.PodCondition
}

func (s *scope) elements(e ast.Expr) *elements {
	switch e.Kind() {
	case ast.IdentKind:
		return s.variables[s.variable(e)].elements
	case ast.ComprehensionKind:
		return s.filtered(e.AsComprehension())
	default:
	}
	if list := s.libraryList(e); list != nil {
		return list
	}
	if optional, otherwise, ok := orValue(e); ok {
		empty := otherwise.Kind() == ast.ListKind && otherwise.AsList().Size() == 0
		if list, isOptional := s.statusList(optional); list != nil && isOptional && empty {
			return list
		}
		return nil
	}
	list, isOptional := s.statusList(e)
	if list == nil || isOptional {
		return nil
	}
	list.required = true
	return list
}

// libraryList compiles a function of compiler/cel that returns a list.
func (s *scope) libraryList(e ast.Expr) *elements {
	if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() || s.variable(e.AsCall().Target()) != "pod" {
		return nil
	}
	switch e.AsCall().FunctionName() {
	case cel.ContainersFunction:
		return &elements{source: allContainers}
	case cel.FailedContainersFunction:
		return &elements{source: failedContainers}
	default:
		return nil
	}
}

// statusList compiles a list in the pod's status, and returns whether its path is optional.
func (s *scope) statusList(e ast.Expr) (list *elements, optional bool) {
	if _, shadowed := s.local("pod"); shadowed {
		return nil, false
	}
	path, optional, ok := pathFrom(e, "pod")
	if !ok || len(path) != 2 || path[0] != "status" {
		return nil, false
	}
	switch path[1] {
	case "containerStatuses":
		return &elements{source: containerStatuses}, optional
	case "initContainerStatuses":
		return &elements{source: initContainerStatuses}, optional
	case "conditions":
		return &elements{source: conditions}, optional
	default:
		return nil, false
	}
}

// count returns the number of elements before filtering.
func (l *elements) count(pod *corev1.Pod) int {
	switch l.source {
	case containerStatuses:
		return len(pod.Status.ContainerStatuses)
	case initContainerStatuses:
		return len(pod.Status.InitContainerStatuses)
	case conditions:
		return len(pod.Status.Conditions)
	default:
		return cel.Count(pod)
	}
}

// element returns the i-th element before filtering.
func (l *elements) element(pod *corev1.Pod, i int) local {
	switch l.source {
	case containerStatuses:
		return local{container: cel.Container{Status: &pod.Status.ContainerStatuses[i]}}
	case initContainerStatuses:
		return local{container: cel.Container{Status: &pod.Status.InitContainerStatuses[i]}}
	case conditions:
		return local{condition: &pod.Status.Conditions[i]}
	default:
		return local{container: cel.At(pod, i)}
	}
}

// begin returns false if CEL has an error for the list, or if the closures have done too much work.
func (l *elements) begin(f *Frame) bool {
	if l.source == allContainers || l.source == failedContainers {
		return f.lookForContainers()
	}
	return !l.required || l.count(f.Pod) > 0
}

// next returns the first element from index i on that passes the filters, and the index after it. The Truth is No at the end
// of the list, and Undecided if a filter is undecided.
func (l *elements) next(f *Frame, i int) (found local, after int, is Truth) {
	if i == 0 && !l.begin(f) {
		return local{}, 0, Undecided
	}
	for n := l.count(f.Pod); i < n; i++ {
		if l.source == failedContainers && !cel.FailedAt(f.Pod, i) {
			continue
		}
		c := l.element(f.Pod, i)
		if !f.step() {
			return c, n, Undecided
		}
		switch l.passes(f, c) {
		case Yes:
			return c, i + 1, Yes
		case Undecided:
			return c, n, Undecided
		case No:
		}
	}
	return local{}, i, No
}

// passes evaluates the filters for an element.
func (l *elements) passes(f *Frame, c local) Truth {
	for i := range l.filters {
		slot := l.filters[i].slot
		saved := f.locals[slot]
		f.locals[slot] = c
		answer := l.filters[i].predicate(f)
		f.locals[slot] = saved
		if answer != Yes {
			return answer
		}
	}
	return Yes
}

// sound reports whether the filters decide for every element. CEL filters the whole list before it reads the first element.
func (l *elements) sound(f *Frame) bool {
	if len(l.filters) == 0 {
		return true
	}
	_, ok := l.size(f)
	return ok
}

func (l *elements) size(f *Frame) (size int64, ok bool) {
	_, i, found := l.next(f, 0)
	for ; found == Yes; _, i, found = l.next(f, i) {
		size++
	}
	return size, found == No
}

func (l *elements) at(f *Frame, index int64) (local, bool) {
	if index < 0 || !l.sound(f) {
		return local{}, false
	}
	for c, i, found := l.next(f, 0); found == Yes; c, i, found = l.next(f, i) {
		if index == 0 {
			return c, true
		}
		index--
	}
	return local{}, false
}

// container is a closure that returns a container of the pod.
type container func(*Frame) (cel.Container, bool)

// container compiles a loop's variable or an element of a list.
func (s *scope) container(e ast.Expr) container {
	switch e.Kind() {
	case ast.IdentKind:
		slot, ok := s.slot(e)
		if !ok {
			return nil
		}
		return func(f *Frame) (cel.Container, bool) { return f.locals[slot].container, true }
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Index {
			list, index := s.elements(call.Args()[0]), s.integer(call.Args()[1])
			if list == nil || index == nil {
				return nil
			}
			return func(f *Frame) (cel.Container, bool) {
				i, ok := index(f)
				if !ok {
					return cel.Container{}, false
				}
				c, ok := list.at(f, i)
				return c.container, ok
			}
		}
	default:
	}
	return nil
}

func isContainer(t *types.Type) bool {
	return t.Kind() == types.StructKind && t.TypeName() == cel.ContainerName
}

// with returns the list with another filter.
func (l *elements) with(f filter) *elements {
	filtered := *l
	filtered.filters = append(slices.Clip(l.filters), f)
	return &filtered
}
