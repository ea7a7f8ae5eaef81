package native

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/custom/library"
)

// containers is a list of the pod's containers: all or those that failed, and of
// these those that filters let through.
type containers struct {
	failed  bool
	filters []filter
}

// filter is what a container must be, which the predicate finds in a local.
type filter struct {
	slot      int
	predicate boolean
}

// container is one of the list's.
type container func(*Frame) (library.Container, bool)

func (s *scope) containers(e ast.Expr) *containers {
	switch e.Kind() {
	case ast.IdentKind:
		return s.variables[s.variable(e)].containers
	case ast.CallKind:
		call := e.AsCall()
		if !call.IsMemberFunction() || s.variable(call.Target()) != "pod" {
			return nil
		}
		switch call.FunctionName() {
		case library.ContainersFunction:
			return &containers{}
		case library.FailedContainersFunction:
			return &containers{failed: true}
		}
	case ast.ComprehensionKind:
		return s.filtered(e.AsComprehension())
	default:
	}
	return nil
}

// next is the next container of the list, from the i-th of the pod's, and where the
// one after it is. Found is No at the end.
func (l *containers) next(f *Frame, i int) (c library.Container, after int, found Truth) {
	if i == 0 && !f.lookForContainers() {
		return library.Container{}, 0, Undecided
	}
	for n := library.Count(f.Pod); i < n; i++ {
		if l.failed && !library.FailedAt(f.Pod, i) {
			continue
		}
		c := library.At(f.Pod, i)
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
	return library.Container{}, i, No
}

// passes puts the container where each filter looks for it, and what was there back.
func (l *containers) passes(f *Frame, c library.Container) Truth {
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

// sound is whether all filters decide for all containers: CEL has the whole list
// before it looks at the first element.
func (l *containers) sound(f *Frame) bool {
	if len(l.filters) == 0 {
		return true
	}
	_, ok := l.size(f)
	return ok
}

func (l *containers) size(f *Frame) (size int64, ok bool) {
	_, i, found := l.next(f, 0)
	for ; found == Yes; _, i, found = l.next(f, i) {
		size++
	}
	return size, found == No
}

func (l *containers) at(f *Frame, index int64) (library.Container, bool) {
	if index < 0 || !l.sound(f) {
		return library.Container{}, false
	}
	for c, i, found := l.next(f, 0); found == Yes; c, i, found = l.next(f, i) {
		if index == 0 {
			return c, true
		}
		index--
	}
	return library.Container{}, false
}

// container is a comprehension's variable, or one of a list by its number.
func (s *scope) container(e ast.Expr) container {
	switch e.Kind() {
	case ast.IdentKind:
		slot, ok := s.slot(e)
		if !ok {
			return nil
		}
		return func(f *Frame) (library.Container, bool) { return f.locals[slot], true }
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Index {
			list, index := s.containers(call.Args()[0]), s.integer(call.Args()[1])
			if list == nil || index == nil {
				return nil
			}
			return func(f *Frame) (library.Container, bool) {
				i, ok := index(f)
				if !ok {
					return library.Container{}, false
				}
				return list.at(f, i)
			}
		}
	default:
	}
	return nil
}

func isContainer(t *types.Type) bool {
	return t.Kind() == types.StructKind && t.TypeName() == library.ContainerName
}
