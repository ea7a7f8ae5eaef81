package closure

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/podverdict/podverdict/compiler/cel"
)

// quantifier is the macro, and its predicate, from which the parser expanded a loop.
type quantifier struct {
	kind      quantifierKind
	predicate ast.Expr
}

type quantifierKind uint8

const (
	isOther quantifierKind = iota
	isExists
	isAll
	isExistsOne
	isFilter
)

func quantifierOf(loop ast.ComprehensionExpr) quantifier {
	step := loop.LoopStep()
	if loop.HasIterVar2() || step.Kind() != ast.CallKind {
		return quantifier{}
	}
	args := step.AsCall().Args()
	switch operator := step.AsCall().FunctionName(); {
	case operator == operators.LogicalOr && isAccumulator(args[0], loop) && isLiteral(loop.AccuInit(), types.False):
		return quantifier{isExists, args[1]}
	case operator == operators.LogicalAnd && isAccumulator(args[0], loop) && isLiteral(loop.AccuInit(), types.True):
		return quantifier{isAll, args[1]}
	case operator == operators.Conditional && isLiteral(loop.AccuInit(), types.IntZero):
		return quantifier{isExistsOne, args[0]}
	case operator == operators.Conditional && loop.AccuInit().Kind() == ast.ListKind && isAccumulator(loop.Result(), loop) &&
		appends(args[1], loop) && isAccumulator(args[2], loop):
		return quantifier{isFilter, args[0]}
	default:
		return quantifier{}
	}
}

// Predicate returns the predicate of exists, exists_one, all or filter, or nil for any other
// loop.
func Predicate(loop ast.ComprehensionExpr) ast.Expr { return quantifierOf(loop).predicate }

// appends reports whether a loop's step appends the element itself, as in filter but not in map.
func appends(step ast.Expr, loop ast.ComprehensionExpr) bool {
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

// quantified compiles exists, exists_one and all over containers, container statuses and conditions.
func (s *scope) quantified(loop ast.ComprehensionExpr) boolean {
	list, of := s.elements(loop.IterRange()), quantifierOf(loop)
	if list == nil || len(s.names) >= maxDepth {
		return nil
	}
	switch of.kind {
	case isExists:
		return s.exists(list, loop.IterVar(), of.predicate, false)
	case isAll:
		return not(s.exists(list, loop.IterVar(), of.predicate, true))
	case isExistsOne:
		return existsOne(list, len(s.names), s.predicate(loop.IterVar(), of.predicate))
	default:
		return nil
	}
}

// filtered compiles filter over containers, container statuses and conditions.
func (s *scope) filtered(loop ast.ComprehensionExpr) *elements {
	list, of := s.elements(loop.IterRange()), quantifierOf(loop)
	if list == nil || len(s.names) >= maxDepth || of.kind != isFilter {
		return nil
	}
	return list.with(filter{slot: len(s.names), predicate: s.predicate(loop.IterVar(), of.predicate)})
}

// predicate compiles the predicate of a loop. The loop's variable gets the next slot.
func (s *scope) predicate(name string, e ast.Expr) boolean {
	s.names = append(s.names, name)
	defer func() { s.names = s.names[:len(s.names)-1] }()
	return s.bool(e)
}

// exists compiles exists. It also compiles all, as exists with the negated predicate. It uses a test if possible, which is
// fastest.
func (s *scope) exists(list *elements, variable string, predicate ast.Expr, negated bool) boolean {
	if list.source <= failedContainers && len(list.filters) == 0 {
		if t := containerTest(predicate, variable); t != nil {
			if negated {
				t = notTest(t)
			}
			return existsTest(list.source == failedContainers, t)
		}
	}
	p := s.predicate(variable, predicate)
	if negated {
		p = not(p)
	}
	return exists(list, len(s.names), p)
}

// exists compiles exists over a list. The result is Yes if the predicate is Yes for an element, even if it is Undecided for
// others.
func exists(list *elements, slot int, predicate boolean) boolean {
	if list.source <= failedContainers && len(list.filters) == 0 {
		return existsAmong(list.source == failedContainers, slot, predicate)
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
			answer = max(answer, p) // keeps Undecided
		}
		f.locals[slot] = saved
		if found == Yes {
			return Yes // leaves the loop
		}
		return max(answer, found)
	}
}

// existsAmong compiles exists over containers without filters, the form of most rules. It reads the pod's statuses directly.
func existsAmong(failed bool, slot int, predicate boolean) boolean {
	return func(f *Frame) Truth {
		if !f.lookForContainers() {
			return Undecided
		}
		saved := f.locals[slot]
		answer := No
		containers := f.Pod.Status.ContainerStatuses
		for i := range containers {
			if failed && !cel.HasFailed(&containers[i]) {
				continue
			}
			f.locals[slot].container = cel.Container{Status: &containers[i], Kind: cel.KindContainer}
			if answer = either(answer, f, predicate); answer == Yes {
				break
			}
		}
		for i := len(containers); answer != Yes && i < cel.Count(f.Pod); i++ {
			if failed && !cel.FailedAt(f.Pod, i) {
				continue
			}
			f.locals[slot].container = cel.At(f.Pod, i)
			answer = either(answer, f, predicate)
		}
		f.locals[slot] = saved
		return answer
	}
}

// either combines the result so far with the predicate of one more element.
func either(answer Truth, f *Frame, predicate boolean) Truth {
	if !f.step() {
		return Undecided
	}
	if p := predicate(f); p != No {
		return p
	}
	return answer
}

// existsOne compiles exists_one. The result is Undecided if the predicate is Undecided for any element.
func existsOne(list *elements, slot int, predicate boolean) boolean {
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
