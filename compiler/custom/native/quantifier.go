package native

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/custom/library"
)

// quantifier is exists, exists_one or all over containers, which the parser has
// written as a loop.
func (s *scope) quantifier(loop ast.ComprehensionExpr) boolean {
	list := s.containers(loop.IterRange())
	if list == nil || loop.HasIterVar2() || len(s.names) >= maxDepth {
		return nil
	}
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind {
		return nil
	}
	slot, args := len(s.names), step.AsCall().Args()
	switch accumulates := isAccumulator(args[0], loop); {
	case step.AsCall().FunctionName() == operators.LogicalOr && accumulates && isLiteral(loop.AccuInit(), types.False):
		return s.exists(list, loop.IterVar(), args[1], false)
	case step.AsCall().FunctionName() == operators.LogicalAnd && accumulates && isLiteral(loop.AccuInit(), types.True):
		return not(s.exists(list, loop.IterVar(), args[1], true))
	case step.AsCall().FunctionName() == operators.Conditional && isLiteral(loop.AccuInit(), types.IntZero):
		return existsOne(list, slot, s.predicate(loop.IterVar(), args[0]))
	default:
		return nil
	}
}

// filtered is filter over containers.
func (s *scope) filtered(loop ast.ComprehensionExpr) *containers {
	list := s.containers(loop.IterRange())
	if list == nil || loop.HasIterVar2() || len(s.names) >= maxDepth || loop.AccuInit().Kind() != ast.ListKind {
		return nil
	}
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional || !isAccumulator(loop.Result(), loop) {
		return nil
	}
	args := step.AsCall().Args()
	if !s.appends(args[1], loop) || !isAccumulator(args[2], loop) {
		return nil
	}
	f := filter{slot: len(s.names), predicate: s.predicate(loop.IterVar(), args[0])}
	return &containers{failed: list.failed, filters: append(slices.Clip(list.filters), f)}
}

// appends is whether a step adds the element as it is, which map does not.
func (s *scope) appends(step ast.Expr, loop ast.ComprehensionExpr) bool {
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Add {
		return false
	}
	args := step.AsCall().Args()
	if !isAccumulator(args[0], loop) || args[1].Kind() != ast.ListKind || args[1].AsList().Size() != 1 {
		return false
	}
	element := args[1].AsList().Elements()[0]
	return element.Kind() == ast.IdentKind && element.AsIdent() == loop.IterVar()
}

func isAccumulator(e ast.Expr, loop ast.ComprehensionExpr) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == loop.AccuVar()
}

func isLiteral(e ast.Expr, value any) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == value
}

// predicate is what stands in a comprehension, of which the variable is the next
// local.
func (s *scope) predicate(name string, e ast.Expr) boolean {
	s.names = append(s.names, name)
	defer func() { s.names = s.names[:len(s.names)-1] }()
	return s.bool(e)
}

// exists is whether there is an element for which the predicate is true, or false if
// it is negated. The fastest way is tried first.
func (s *scope) exists(list *containers, variable string, predicate ast.Expr, negated bool) boolean {
	if t := containerTest(predicate, variable); t != nil && len(list.filters) == 0 {
		if negated {
			t = notTest(t)
		}
		return existsTest(list.failed, t)
	}
	p := s.predicate(variable, predicate)
	if negated {
		p = not(p)
	}
	return exists(list, len(s.names), p)
}

// exists is yes if the predicate is for some element, whatever it says of others.
func exists(list *containers, slot int, predicate boolean) boolean {
	if len(list.filters) == 0 {
		return existsAmong(list.failed, slot, predicate)
	}
	return func(f *Frame) Truth {
		if !list.sound(f) {
			return Undecided
		}
		saved := f.locals[slot]
		answer := No
		c, i, found := list.next(f, 0)
		for ; found == Yes; c, i, found = list.next(f, i) {
			f.locals[slot] = c
			p := predicate(f)
			if p == Yes {
				break
			}
			answer = max(answer, p) // Undecided stays
		}
		f.locals[slot] = saved
		if found == Yes {
			return Yes // the loop was left
		}
		return max(answer, found)
	}
}

// existsAmong is exists without filters, which most rules are: the pod's containers
// are gone through directly.
func existsAmong(failed bool, slot int, predicate boolean) boolean {
	return func(f *Frame) Truth {
		if !f.lookForContainers() {
			return Undecided
		}
		saved := f.locals[slot]
		answer := No
		containers := f.Pod.Status.ContainerStatuses
		for i := range containers {
			if failed && !library.HasFailed(&containers[i]) {
				continue
			}
			f.locals[slot] = library.Container{Status: &containers[i], Kind: library.KindContainer}
			if answer = either(answer, f, predicate); answer == Yes {
				break
			}
		}
		for i := len(containers); answer != Yes && i < library.Count(f.Pod); i++ {
			if failed && !library.FailedAt(f.Pod, i) {
				continue
			}
			f.locals[slot] = library.At(f.Pod, i)
			answer = either(answer, f, predicate)
		}
		f.locals[slot] = saved
		return answer
	}
}

// either is what is known after one more element.
func either(answer Truth, f *Frame, predicate boolean) Truth {
	if !f.step() {
		return Undecided
	}
	if p := predicate(f); p != No {
		return p
	}
	return answer
}

// existsOne is undecided if the predicate is for any element.
func existsOne(list *containers, slot int, predicate boolean) boolean {
	return func(f *Frame) Truth {
		if !list.sound(f) {
			return Undecided
		}
		saved := f.locals[slot]
		count, answer := 0, No
		c, i, found := list.next(f, 0)
		for ; found == Yes && answer == No; c, i, found = list.next(f, i) {
			f.locals[slot] = c
			switch predicate(f) {
			case Yes:
				count++
			case Undecided:
				answer = Undecided
			case No:
			}
		}
		f.locals[slot] = saved
		return decided(count == 1, max(answer, found) == No)
	}
}
