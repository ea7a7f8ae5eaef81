package closure

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// test is a predicate that depends only on a container's status, and always decides. With a test, exists loops over the
// statuses directly, so that a custom rule costs about the same as the equivalent rule of a podFailurePolicy.
type test func(*corev1.ContainerStatus) bool

// existsTest compiles exists over unfiltered containers with a test as predicate.
func existsTest(failed bool, t test) boolean {
	return func(f *Frame) Truth {
		containers, inits := f.Pod.Status.ContainerStatuses, f.Pod.Status.InitContainerStatuses
		if !f.look(cel.Steps(f.Pod)) {
			return Undecided
		}
		for i := range containers {
			if c := &containers[i]; (!failed || cel.HasFailed(c)) && t(c) {
				return Yes
			}
		}
		for i := range inits {
			if c := &inits[i]; (!failed || cel.FailedAt(f.Pod, len(containers)+i)) && t(c) {
				return Yes
			}
		}
		return No
	}
}

// containerTest compiles the predicate of a loop to a test, or returns nil.
func containerTest(e ast.Expr, variable string) test {
	if t, ok := exitTestOf(e, variable); ok && t.absent != Undecided {
		return t.is
	}
	switch e.Kind() {
	case ast.SelectKind:
		if f, ok := fieldOfLocal(e, variable); ok && f.Bool != nil {
			return func(c *corev1.ContainerStatus) bool { return f.Bool(cel.Container{Status: c}) }
		}
	case ast.CallKind:
		return testCall(e.AsCall(), variable)
	default:
	}
	return nil
}

func testCall(call ast.CallExpr, variable string) test {
	args := call.Args()
	switch name := call.FunctionName(); name {
	case operators.LogicalNot:
		if t := containerTest(args[0], variable); t != nil {
			return notTest(t)
		}
	case operators.LogicalAnd, operators.LogicalOr:
		left, right := containerTest(args[0], variable), containerTest(args[1], variable)
		switch {
		case left == nil || right == nil:
		case name == operators.LogicalAnd:
			return func(c *corev1.ContainerStatus) bool { return left(c) && right(c) }
		default:
			return func(c *corev1.ContainerStatus) bool { return left(c) || right(c) }
		}
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return comparisonTest(name, args[0], args[1], variable)
	case operators.In:
		return membershipTest(args[0], args[1], variable)
	}
	return nil
}

func notTest(t test) test {
	return func(c *corev1.ContainerStatus) bool { return !t(c) }
}

// fieldOfLocal returns a field of the loop's container that depends only on the status.
func fieldOfLocal(e ast.Expr, variable string) (cel.RecordField[cel.Container], bool) {
	path, optional, ok := pathFrom(e, variable)
	if !ok || optional || len(path) != 1 || path[0] == "kind" {
		return cel.RecordField[cel.Container]{}, false
	}
	return containerField(path[0])
}

func comparisonTest(operator string, left, right ast.Expr, variable string) test {
	f, ok := fieldOfLocal(left, variable)
	if !ok || right.Kind() != ast.LiteralKind {
		return nil
	}
	switch literal := right.AsLiteral().(type) {
	case types.Int:
		return compared(operator, f.Int, int64(literal))
	case types.String:
		return compared(operator, f.String, string(literal))
	default:
		return nil
	}
}

func compared[T cmp.Ordered](operator string, read func(cel.Container) T, literal T) test {
	if read == nil {
		return nil
	}
	is := map[string][]int{
		operators.Equals: {0}, operators.NotEquals: {-1, 1}, operators.Less: {-1}, operators.LessEquals: {-1, 0},
		operators.Greater: {1}, operators.GreaterEquals: {0, 1},
	}[operator]
	var answers [3]bool // less, equal, greater
	for _, n := range is {
		answers[n+1] = true
	}
	return func(c *corev1.ContainerStatus) bool {
		return answers[cmp.Compare(read(cel.Container{Status: c}), literal)+1]
	}
}

func membershipTest(element, list ast.Expr, variable string) test {
	f, ok := fieldOfLocal(element, variable)
	if !ok {
		return nil
	}
	if values, ok := literals[types.Int](list); ok && f.Int != nil {
		set := newIntSet(values)
		return func(c *corev1.ContainerStatus) bool { return set.has(f.Int(cel.Container{Status: c})) }
	}
	values, ok := literals[types.String](list)
	if !ok || f.String == nil || len(values) > fewTexts {
		return nil
	}
	return func(c *corev1.ContainerStatus) bool {
		return slices.Contains(values, types.String(f.String(cel.Container{Status: c})))
	}
}
