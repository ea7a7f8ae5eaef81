package closure

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// exitTest is a predicate on a container's exit code and maybe its name. A whole predicate such as
//
//	c.?state.?terminated.?exitCode.orValue(0) != 0 && c.name == 'main' && !(c.state.terminated.exitCode in [1, 2])
//
// becomes one test: the name main, and all codes but 0, 1 and 2. The sets of its parts are combined as CEL combines the
// parts, so predicate and test are true of the same containers.
type exitTest struct {
	codes intSet
	// absent is the value for a container without an exit code, or Undecided if CEL has an error for it.
	absent Truth
	named  bool
	name   string
}

func (t *exitTest) is(c *corev1.ContainerStatus) bool {
	if t.named && c.Name != t.name {
		return false
	}
	if terminated := c.State.Terminated; terminated != nil {
		return t.codes.has(int64(terminated.ExitCode))
	}
	return t.absent == Yes
}

// exitTestOf converts a predicate to a test. It returns false if the predicate depends on more than the exit code and the
// name of the loop's variable.
func exitTestOf(e ast.Expr, variable string) (exitTest, bool) {
	if e.Kind() != ast.CallKind {
		return exitTest{}, false
	}
	args := e.AsCall().Args()
	switch operator := e.AsCall().FunctionName(); operator {
	case operators.LogicalNot:
		t, ok := exitTestOf(args[0], variable)
		return notExit(t), ok && !t.named
	case operators.LogicalAnd:
		left, okL := exitTestOf(args[0], variable)
		right, okR := exitTestOf(args[1], variable)
		if !okL || !okR || left.named && right.named && left.name != right.name {
			return exitTest{}, false
		}
		return bothExit(left, right), true
	case operators.LogicalOr:
		left, okL := exitTestOf(args[0], variable)
		right, okR := exitTestOf(args[1], variable)
		return notExit(bothExit(notExit(left), notExit(right))), okL && okR && !left.named && !right.named
	case operators.Equals, operators.NotEquals, operators.In:
		return exitComparison(operator, args[0], args[1], variable)
	default:
		return exitTest{}, false
	}
}

func exitComparison(operator string, left, right ast.Expr, variable string) (exitTest, bool) {
	if path, optional, ok := pathFrom(left, variable); ok && !optional && len(path) == 1 && path[0] == "name" {
		name, ok := literal[types.String](right)
		return exitTest{codes: allInts, absent: Yes, named: true, name: string(name)}, ok && operator == operators.Equals
	}
	set, ok := setOf(right)
	if operator == operators.NotEquals {
		set = complement(set)
	}
	if !ok {
		return exitTest{}, false
	}
	absent, ok := exitCodeOf(left, variable, set)
	return exitTest{codes: set, absent: absent}, ok
}

// exitCodeOf reports whether an expression is the exit code of the loop's variable. Absent is the truth of a comparison with
// the set for a container without an exit code.
func exitCodeOf(e ast.Expr, variable string, set intSet) (absent Truth, ok bool) {
	if optional, otherwise, ok := orValue(e); ok {
		value, isInt := literal[types.Int](otherwise)
		path, isOptional, known := pathFrom(optional, variable)
		return truth(set.has(int64(value))), isInt && isOptional && known && isExitCode(path)
	}
	path, optional, known := pathFrom(e, variable)
	switch {
	case !known || optional:
		return No, false
	case len(path) == 1 && path[0] == "exitCode": // podverdict.Container's exitCode, which is 0 if absent
		return truth(set.has(0)), true
	default:
		return Undecided, isExitCode(path)
	}
}

func isExitCode(path []string) bool {
	return len(path) == 3 && path[0] == "state" && path[1] == "terminated" && path[2] == "exitCode"
}

func notExit(t exitTest) exitTest {
	t.codes = complement(t.codes)
	t.absent = negated(t.absent)
	return t
}

// bothExit returns a test that is true if both tests are. At most one of them has a name, or both have the same.
func bothExit(t, o exitTest) exitTest {
	t.codes = intersection(t.codes, o.codes)
	t.absent = conjunction(t.absent, o.absent)
	if o.named {
		t.named, t.name = true, o.name
	}
	return t
}

func (t *exitTest) equal(o *exitTest) bool {
	return t.codes.equal(&o.codes) && t.absent == o.absent && t.named == o.named && t.name == o.name
}

// setOf returns the set of a number or of a list of numbers.
func setOf(e ast.Expr) (intSet, bool) {
	if i, ok := literal[types.Int](e); ok {
		return newIntSet([]types.Int{i}), true
	}
	values, ok := literals[types.Int](e)
	return newIntSet(values), ok
}
