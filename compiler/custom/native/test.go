package native

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/custom/library"
)

// test is a predicate about a container's status and nothing else. It always decides,
// so that exists can go through the statuses with nothing in between: rules that
// podFailurePolicy can say too are to cost about the same.
type test func(*corev1.ContainerStatus) bool

// existsTest is exists without filters, of a test.
func existsTest(failed bool, t test) boolean {
	return func(f *Frame) Truth {
		containers, inits := f.Pod.Status.ContainerStatuses, f.Pod.Status.InitContainerStatuses
		if !f.look(library.Steps(f.Pod)) {
			return Undecided
		}
		for i := range containers {
			if c := &containers[i]; (!failed || library.HasFailed(c)) && t(c) {
				return Yes
			}
		}
		for i := range inits {
			if c := &inits[i]; (!failed || library.FailedAt(f.Pod, len(containers)+i)) && t(c) {
				return Yes
			}
		}
		return No
	}
}

// containerTest is the predicate of a loop with that variable as a test, or nil.
func containerTest(e ast.Expr, variable string) test {
	if t := exitTestOf(e, variable); t.set != nil {
		return t.test()
	}
	switch e.Kind() {
	case ast.SelectKind:
		if f, ok := fieldOfLocal(e, variable); ok && f.Bool != nil {
			return func(c *corev1.ContainerStatus) bool { return f.Bool(library.Container{Status: c}) }
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

// fieldOfLocal is a field of the loop's container, if the status alone tells it.
func fieldOfLocal(e ast.Expr, variable string) (library.Field[library.Container], bool) {
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || e.AsSelect().FieldName() == "kind" {
		return library.Field[library.Container]{}, false
	}
	if operand := e.AsSelect().Operand(); operand.Kind() != ast.IdentKind || operand.AsIdent() != variable {
		return library.Field[library.Container]{}, false
	}
	return containerField(e.AsSelect().FieldName())
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

func compared[T cmp.Ordered](operator string, read func(library.Container) T, literal T) test {
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
		return answers[cmp.Compare(read(library.Container{Status: c}), literal)+1]
	}
}

func membershipTest(element, list ast.Expr, variable string) test {
	f, ok := fieldOfLocal(element, variable)
	if !ok || list.Kind() != ast.ListKind || len(list.AsList().OptionalIndices()) > 0 {
		return nil
	}
	if values, ok := literals[types.Int](list.AsList()); ok && f.Int != nil {
		set := newIntSet(values)
		return func(c *corev1.ContainerStatus) bool { return set.has(f.Int(library.Container{Status: c})) }
	}
	values, ok := literals[types.String](list.AsList())
	if !ok || f.String == nil || len(values) > fewTexts {
		return nil
	}
	return func(c *corev1.ContainerStatus) bool {
		return slices.Contains(values, types.String(f.String(library.Container{Status: c})))
	}
}

// exitTest is what podFailurePolicy can ask of a container: its exit code, in a list
// or not, and perhaps its name.
type exitTest struct {
	set   *intSet
	not   bool
	named bool
	name  string
}

// exitTestOf has no set if the expression is something else.
func exitTestOf(e ast.Expr, variable string) exitTest {
	if e.Kind() != ast.CallKind {
		return exitTest{}
	}
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case operators.LogicalNot:
		if t := exitTestOf(args[0], variable); t.set != nil && !t.named {
			t.not = !t.not
			return t
		}
	case operators.LogicalAnd:
		left, right := exitTestOf(args[0], variable), exitTestOf(args[1], variable)
		if left.set == nil {
			left, right = right, left
		}
		if left.set != nil && !left.named && right.set == nil && right.named {
			left.named, left.name = true, right.name
			return left
		}
	case operators.Equals, operators.NotEquals, operators.In:
		f, ok := fieldOfLocal(args[0], variable)
		switch {
		case !ok:
		case f.Name == "exitCode":
			return exitTest{set: setOf(args[1]), not: name == operators.NotEquals}
		case f.Name == "name" && name == operators.Equals && args[1].Kind() == ast.LiteralKind:
			literal, ok := args[1].AsLiteral().(types.String)
			return exitTest{named: ok, name: string(literal)}
		}
	}
	return exitTest{}
}

// setOf is the numbers of a literal or of a list of them, or nil.
func setOf(e ast.Expr) *intSet {
	switch e.Kind() {
	case ast.LiteralKind:
		if i, ok := e.AsLiteral().(types.Int); ok {
			return newIntSet([]types.Int{i})
		}
	case ast.ListKind:
		if values, ok := literals[types.Int](e.AsList()); ok && len(e.AsList().OptionalIndices()) == 0 {
			return newIntSet(values)
		}
	default:
	}
	return nil
}

func (t exitTest) test() test {
	set, not := t.set, t.not
	if !t.named {
		return func(c *corev1.ContainerStatus) bool { return set.has(exitCodeOf(c)) != not }
	}
	name := t.name
	return func(c *corev1.ContainerStatus) bool { return c.Name == name && set.has(exitCodeOf(c)) != not }
}

func exitCodeOf(c *corev1.ContainerStatus) int64 {
	if t := c.State.Terminated; t != nil {
		return int64(t.ExitCode)
	}
	return 0
}
