package closure

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// conditionTest is a predicate on the type and the status of a condition, such as
//
//	c.status == 'True' && c.type in ['DisruptionTarget', 'Ready']
//
// or several such predicates joined by ||.
type conditionTest struct {
	pairs []conditionPair
	// byType replaces pairs if there are many.
	byType map[corev1.PodConditionType][]corev1.ConditionStatus
}

type conditionPair struct {
	conditionType corev1.PodConditionType
	status        corev1.ConditionStatus
}

// fewPairs is the number of pairs up to which comparing is faster than a map lookup.
const fewPairs = 4

func newConditionTest(pairs []conditionPair) conditionTest {
	if len(pairs) <= fewPairs {
		return conditionTest{pairs: pairs}
	}
	t := conditionTest{byType: make(map[corev1.PodConditionType][]corev1.ConditionStatus, len(pairs))}
	for _, p := range pairs {
		t.byType[p.conditionType] = append(t.byType[p.conditionType], p.status)
	}
	return t
}

func (t *conditionTest) is(c *corev1.PodCondition) bool {
	for i := range t.pairs {
		if t.pairs[i].conditionType == c.Type && t.pairs[i].status == c.Status {
			return true
		}
	}
	return t.byType != nil && slices.Contains(t.byType[c.Type], c.Status)
}

// maxPairs limits the memory of a predicate that lists many types and many statuses. Rules of a podFailurePolicy list one
// status at a time.
const maxPairs = 10_000

// conditionPairs returns the pairs for which a predicate is true. It returns false if the predicate depends on more than the
// type and the status of the loop's variable.
func conditionPairs(e ast.Expr, variable string) ([]conditionPair, bool) {
	if e.Kind() != ast.CallKind {
		return nil, false
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalOr:
		left, okL := conditionPairs(args[0], variable)
		right, okR := conditionPairs(args[1], variable)
		return append(left, right...), okL && okR
	case operators.LogicalAnd:
		statuses, typed := args[0], args[1]
		if _, ok := wordsOf(statuses, variable, "status"); !ok {
			statuses, typed = typed, statuses
		}
		return pairsOf(typed, statuses, variable)
	default:
		return nil, false
	}
}

func pairsOf(typed, statuses ast.Expr, variable string) ([]conditionPair, bool) {
	ofType, okT := wordsOf(typed, variable, "type")
	ofStatus, okS := wordsOf(statuses, variable, "status")
	if min(len(ofType), len(ofStatus)) > 1 && len(ofType)*len(ofStatus) > maxPairs {
		return nil, false
	}
	pairs := make([]conditionPair, 0, len(ofType)*len(ofStatus))
	for _, t := range ofType {
		for _, s := range ofStatus {
			pairs = append(pairs, conditionPair{corev1.PodConditionType(t), corev1.ConditionStatus(s)})
		}
	}
	return pairs, okT && okS
}

// wordsOf returns the values that a comparison allows for a field of the loop's variable.
func wordsOf(e ast.Expr, variable, field string) ([]types.String, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 2 {
		return nil, false
	}
	args := e.AsCall().Args()
	if path, optional, ok := pathFrom(args[0], variable); !ok || optional || len(path) != 1 || path[0] != field {
		return nil, false
	}
	switch e.AsCall().FunctionName() {
	case operators.Equals:
		word, ok := literal[types.String](args[1])
		return []types.String{word}, ok
	case operators.In:
		return literals[types.String](args[1])
	default:
		return nil, false
	}
}
