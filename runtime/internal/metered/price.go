package metered

import (
	"regexp/syntax"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// price returns the cost of a call for the given arguments, in units of about 100 ns. It equals the API server's cost if that
// is proportional to the duration of the call, and exceeds it otherwise. Functions without a case here take time linear in
// their text.
func price(c *call, a []ref.Val) uint64 {
	switch c.function {
	case loop:
		return loopPrice(a[0])
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return comparisonPrice(a[0], a[1])
	case operators.In:
		return membershipPrice(a[0], a[1])
	case operators.Add:
		return sumPrice(a[0], a[1])
	case "dyn", "type":
		return 1
	case "size":
		return 1 + length(a[0])/countFactor
	case "startsWith", "endsWith":
		return pieces(length(a[1]))
	case "matches", "find", "findAll":
		return pieces(length(a[0])+1) * patternPrice(a[1], c.literal[1])
	case "contains":
		return pieces(length(a[0])) * pieces(length(a[1]))
	case "replace":
		return replacementPrice(a)
	case "lists.range":
		return rangePrice(a[0])
	case "sets.contains", "sets.intersects", "sets.equivalent":
		return 1 + sortFactor*size(a[0])*size(a[1])
	}
	if _, list := firstOf(a).(traits.Lister); c.function == "includes" && !list {
		return comparisonPrice(a[0], a[1])
	}
	switch receiver := firstOf(a).(type) {
	case traits.Lister:
		return listPrice(c.function, receiver, a)
	case types.String:
		if c.function == "indexOf" || c.function == "lastIndexOf" {
			return pieces(length(a[0])) * pieces(length(a[1]))
		}
	default:
		if steps, ok := libraryPrice(c.function, receiver); ok {
			return steps
		}
	}
	return textPrice(a)
}

// The API server's units.
const (
	// textFactor is the number of characters read per unit; patternFactor is the number of characters of a regular expression
	// matched per ten units.
	textFactor    = 10
	patternFactor = 4
	// countFactor is the number of bytes of text counted or compared per unit.
	countFactor = 128
	// sortFactor is the price of comparing two elements. Each element is compared with each other element.
	sortFactor = 2
	// listUnits is the price of a new list.
	listUnits = 10
)

func firstOf(a []ref.Val) ref.Val {
	if len(a) == 0 {
		return types.NullValue
	}
	return a[0]
}

// length returns the length of a text in bytes, or 0 for any other value.
func length(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	default:
		return 0
	}
}

// size returns the number of elements in a list or a map, or 0 for any other value.
func size(v ref.Val) uint64 {
	if _, text := v.(types.String); text {
		return 0 // CEL would count its characters
	}
	if sizer, ok := v.(traits.Sizer); ok {
		if n, ok := sizer.Size().(types.Int); ok && n > 0 {
			return uint64(n)
		}
	}
	return 0
}

func pieces(bytes uint64) uint64 { return max(1, (bytes+textFactor-1)/textFactor) }

// textPrice returns the price of a function that reads its arguments once.
func textPrice(a []ref.Val) uint64 {
	var sum uint64
	for _, v := range a {
		sum += length(v)
	}
	return pieces(sum)
}

// loopPrice returns the price of a loop over a map, whose keys CEL first collects in a list.
func loopPrice(over ref.Val) uint64 {
	if _, ok := over.(traits.Mapper); ok {
		return size(over) / 2
	}
	return 0
}

func comparisonPrice(a, b ref.Val) uint64 {
	switch a := a.(type) {
	case types.String, types.Bytes:
		return pieces(min(length(a), length(b)))
	case *types.Optional:
		if other, ok := b.(*types.Optional); ok && a.HasValue() && other.HasValue() {
			return comparisonPrice(a.GetValue(), other.GetValue())
		}
		return 1
	case traits.Lister:
		other, ok := b.(traits.Lister)
		if !ok || size(a) != size(other) {
			return 1
		}
		sum := uint64(1)
		for i := range types.Int(size(a)) { //nolint:gosec // CEL counts it by an Int
			sum += comparisonPrice(a.Get(i), other.Get(i))
		}
		return sum
	case traits.Mapper:
		if other, ok := b.(traits.Mapper); !ok || size(a) != size(other) {
			return 1
		}
		return contents(a)
	default:
		if a.Type() != b.Type() {
			return 1
		}
		return 1 + cel.Weight(a)/textFactor
	}
}

// membershipPrice returns the price of the operator in, which compares each element of a list. Texts of different lengths are
// distinguished without reading them.
func membershipPrice(value, collection ref.Val) uint64 {
	list, ok := collection.(traits.Lister)
	if !ok {
		return pieces(length(value))
	}
	sum := uint64(1)
	for it := list.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		switch _, text := element.(types.String); {
		case !text:
			sum += comparisonPrice(value, element)
		case length(value) == length(element):
			sum += 1 + length(value)/countFactor
		default:
			sum++
		}
	}
	return sum
}

// sumPrice returns the price of an addition. For lists it is the price of copying one of them, unless a loop creates the list
// and it grows in place.
func sumPrice(a, b ref.Val) uint64 {
	if _, grows := a.(traits.MutableLister); grows {
		return 1
	}
	return pieces(length(a) + length(b) + size(a))
}

// contents returns the cost of visiting everything in a list or a map, including text and inner lists.
func contents(v ref.Val) uint64 {
	switch v := v.(type) {
	case traits.Lister:
		sum := uint64(1)
		for it := v.Iterator(); it.HasNext() == types.True; {
			sum += contents(it.Next())
		}
		return sum
	case traits.Mapper:
		sum := uint64(1)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			sum += contents(key) + contents(v.Get(key))
		}
		return sum
	case types.String, types.Bytes:
		return pieces(length(v))
	default:
		return 1 + cel.Weight(v)/textFactor
	}
}

// listPrice returns the price of a method of lists.
func listPrice(function string, list traits.Lister, a []ref.Val) uint64 {
	switch function {
	case "distinct", "sort":
		return 1 + listUnits + sortFactor*size(list)*size(list) + contents(list)
	case "@sortByAssociatedKeys":
		return 1 + listUnits + sortFactor*size(list)*size(list) + contents(a[len(a)-1])
	case "slice", "reverse":
		return 1 + listUnits + size(list)
	case "join":
		return contents(list) + pieces(size(list)*textLength(a[1:]))
	default:
		return contents(list)
	}
}

func textLength(a []ref.Val) (sum uint64) {
	for _, v := range a {
		sum += length(v)
	}
	return sum
}

// rangePrice returns the price of the list of numbers below a limit.
func rangePrice(below ref.Val) uint64 {
	n, _ := below.(types.Int)
	return 1 + listUnits + uint64(max(n, 0))
}

// replacementPrice returns the price of replace, which includes the resulting text, as that may be much longer.
func replacementPrice(a []ref.Val) uint64 {
	texts := [3]string{}
	for i := range texts {
		text, _ := a[i].(types.String)
		texts[i] = string(text)
	}
	found := strings.Count(texts[0], texts[1])
	return pieces(uint64(len(texts[0]))) + pieces(uint64(len(texts[0]))+uint64(found)*uint64(len(texts[2]))) //nolint:gosec // a count is not negative
}

// patternPrice returns the price of a regular expression per piece of text. A literal pattern, which the policy's author
// wrote, has the API server's price. Any other pattern is priced with its repetitions expanded, because a few characters
// could expand to a pattern of millions.
func patternPrice(pattern ref.Val, literal bool) uint64 {
	weight := length(pattern)
	if text, ok := pattern.(types.String); ok && !literal {
		if parsed, err := syntax.Parse(string(text), syntax.Perl); err == nil {
			weight = max(weight, patternWeight(parsed))
		}
	}
	return (weight + patternFactor - 1) / patternFactor
}

// maxWeight is above any price, and small enough to be multiplied.
const maxWeight = compiler.CostBudget

func patternWeight(p *syntax.Regexp) uint64 {
	sum := uint64(1 + len(p.Rune))
	for _, part := range p.Sub {
		sum += patternWeight(part)
	}
	if p.Op == syntax.OpRepeat {
		sum *= uint64(max(p.Max, p.Min, 1))
	}
	return min(sum, maxWeight)
}

// nodePrice returns the price of podverdict's functions of a Node.
func nodePrice(function string, node ref.Val) (uint64, bool) {
	n, ok := node.Value().(*corev1.Node)
	if !ok || cel.NodeTests[function] == nil {
		return 0, false
	}
	return uint64(max(1, cel.NodeSteps(function, n))), true
}

// libraryPrice returns the price of podverdict's functions of a Pod, of a Job, or of an optional Node.
func libraryPrice(function string, receiver ref.Val) (uint64, bool) {
	if optional, ok := receiver.(*types.Optional); ok && optional.HasValue() {
		return nodePrice(function, optional.GetValue())
	}
	if job, ok := receiver.Value().(*batchv1.Job); ok {
		return pieces(uint64(len(ptr.Deref(job.Status.FailedIndexes, "")))), true
	}
	pod, ok := receiver.Value().(*corev1.Pod)
	if !ok {
		return 0, false
	}
	switch function {
	case cel.ConditionFunction, cel.HasConditionFunction, cel.UnschedulableFunction, cel.NotReadyForFunction:
		return uint64(max(1, len(pod.Status.Conditions))), true
	case cel.PendingForFunction, cel.RunningForFunction, cel.TerminatingForFunction:
		return 1, true
	default:
		return uint64(max(1, cel.Steps(pod))), true
	}
}
