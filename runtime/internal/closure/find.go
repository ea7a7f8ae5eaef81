package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// Element is the first container or condition that makes an expression true. The zero Element means that the expression is
// false.
type Element struct {
	Container *corev1.ContainerStatus
	Condition *corev1.PodCondition
}

// finder returns the first element of the pod's status that an expression searches for. It always decides, in time linear in
// the status.
type finder func(*corev1.PodStatus) Element

// finder compiles an expression that consists of false, || and exists over container statuses and conditions, as the rules of
// a podFailurePolicy do. It returns nil for others.
func (s *scope) finder(e ast.Expr) finder {
	searches, ok := s.searches(e)
	if !ok {
		return nil
	}
	searches = joined(searches)
	if len(searches) == 1 {
		return searches[0].finder()
	}
	finders := make([]finder, len(searches))
	for i := range searches {
		finders[i] = searches[i].finder()
	}
	return func(status *corev1.PodStatus) Element {
		for _, find := range finders {
			if found := find(status); found != (Element{}) {
				return found
			}
		}
		return Element{}
	}
}

// search is an exists over lists of the pod's status.
type search struct {
	containers, initContainers bool
	exit                       exitTest
	// conditions are searched if neither list of containers is.
	conditions []conditionPair
}

// searches returns the operands of ||, in their order.
func (s *scope) searches(e ast.Expr) ([]search, bool) {
	switch e.Kind() {
	case ast.LiteralKind:
		return nil, e.AsLiteral() == types.False
	case ast.ComprehensionKind:
		found, ok := s.search(e.AsComprehension())
		return []search{found}, ok
	case ast.CallKind:
		if e.AsCall().FunctionName() != operators.LogicalOr {
			return nil, false
		}
		left, okL := s.searches(e.AsCall().Args()[0])
		right, okR := s.searches(e.AsCall().Args()[1])
		return append(left, right...), okL && okR
	default:
		return nil, false
	}
}

func (s *scope) search(loop ast.ComprehensionExpr) (search, bool) {
	list, of := s.elements(loop.IterRange()), quantifierOf(loop)
	if list == nil || list.required || len(list.filters) > 0 || of.kind != isExists {
		return search{}, false
	}
	exit, isExit := exitTestOf(of.predicate, loop.IterVar())
	isExit = isExit && exit.absent != Undecided
	switch list.source {
	case containerStatuses:
		return search{containers: true, exit: exit}, isExit
	case initContainerStatuses:
		return search{initContainers: true, exit: exit}, isExit
	case conditions:
		pairs, ok := conditionPairs(of.predicate, loop.IterVar())
		return search{conditions: pairs}, ok
	default:
		return search{}, false
	}
}

// joined merges a search of containers and the same search of init containers.
func joined(all []search) []search {
	var joined []search
	for _, next := range all {
		if n := len(joined); n > 0 && next.initContainers {
			if last := &joined[n-1]; last.containers && !last.initContainers && last.exit.equal(&next.exit) {
				last.initContainers = true
				continue
			}
		}
		joined = append(joined, next)
	}
	return joined
}

func (s *search) finder() finder {
	switch {
	case s.containers && s.initContainers:
		exit := s.exit
		return exit.inBoth
	case s.containers:
		exit := s.exit
		return func(status *corev1.PodStatus) Element { return exit.in(status.ContainerStatuses) }
	case s.initContainers:
		exit := s.exit
		return func(status *corev1.PodStatus) Element { return exit.in(status.InitContainerStatuses) }
	default:
		test := newConditionTest(slices.Clip(s.conditions))
		return test.in
	}
}

func (t *exitTest) inBoth(status *corev1.PodStatus) Element {
	if found := t.in(status.ContainerStatuses); found.Container != nil {
		return found
	}
	return t.in(status.InitContainerStatuses)
}

// in returns the first container that passes. It checks the name and exit code 0 first, because they rule out most
// containers.
func (t *exitTest) in(list []corev1.ContainerStatus) Element {
	zero := t.codes.hasByte(0)
	for i := range list {
		c := &list[i]
		terminated := c.State.Terminated
		if !zero && terminated != nil && terminated.ExitCode == 0 || t.named && c.Name != t.name {
			continue
		}
		if terminated == nil && t.absent == Yes || terminated != nil && t.codes.has(int64(terminated.ExitCode)) {
			return Element{Container: c}
		}
	}
	return Element{}
}

func (t *conditionTest) in(status *corev1.PodStatus) Element {
	for i := range status.Conditions {
		if c := &status.Conditions[i]; t.is(c) {
			return Element{Condition: c}
		}
	}
	return Element{}
}
