package check

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// repairs maps rule ids to repairs.
var repairs = map[string]repair{
	"exit-codes-unsorted":         sortCodes,
	"exit-codes-duplicate":        sortCodes,
	"disruption-after-exit-codes": moveDisruption,
}

const rulesField = manifest.PolicyField + ".rules"

var errChanges = errors.New("it would change the verdict on other failures")

// sortCodes sorts the exit codes of a rule and removes duplicates. Every Pod gets the same verdict as before, since the set of codes is
// the same.
func sortCodes(s source, f findings.Finding) (change, error) {
	rule := *f.Rule
	codes := s.rules()[rule].OnExitCodes.Values
	order := indexes(len(codes))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(codes[a], codes[b]) })
	order = slices.CompactFunc(order, func(a, b int) bool { return codes[a] == codes[b] })
	text, err := s.arrange(rulesField+"["+strconv.Itoa(rule)+"].onExitCodes.values", order)
	return change{text, func(spec *batchv1.JobSpec) {
		on := spec.PodFailurePolicy.Rules[rule].OnExitCodes
		on.Values = arranged(on.Values, order)
	}}, err
}

// moveDisruption moves a rule for DisruptionTarget before the first rule on exit codes. All other rules keep their order, so a Pod gets
// another verdict only if it has the condition: it matches the moved rule and one that now comes later. A rule that also names other
// conditions is not moved: a Pod with one of them and an exit code would get another verdict without a disruption.
func moveDisruption(s source, f findings.Finding) (change, error) {
	rules, moved := s.rules(), *f.Rule
	first := slices.IndexFunc(rules[:moved], func(r batchv1.PodFailurePolicyRule) bool { return r.OnExitCodes != nil })
	if first < 0 || slices.ContainsFunc(rules[moved].OnPodConditions, isOther) {
		return change{}, errChanges
	}
	order := slices.Delete(indexes(len(rules)), moved, moved+1)
	order = slices.Insert(order, first, moved)
	text, err := s.arrange(rulesField, order)
	return change{text, func(spec *batchv1.JobSpec) {
		spec.PodFailurePolicy.Rules = arranged(spec.PodFailurePolicy.Rules, order)
	}}, err
}

// isOther reports whether a pattern matches a condition other than a disruption. The default status is True.
func isOther(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return p.Type != corev1.DisruptionTarget || cmp.Or(p.Status, corev1.ConditionTrue) != corev1.ConditionTrue
}

func (s source) rules() []batchv1.PodFailurePolicyRule {
	return s.job.Object.Spec.PodFailurePolicy.Rules
}

// arrange returns the text with the items of a list in a new order, which may omit items.
func (s source) arrange(field string, order []int) (string, error) {
	list, err := s.job.Origin.Node(field)
	switch {
	case err != nil:
		return "", err
	case list == nil || list.Kind != yaml.SequenceNode || len(list.Content) <= slices.Max(order):
		return "", errLayout
	}
	if err := s.job.Origin.Shared(list); err != nil {
		return "", err
	}
	return s.reordered(list, order)
}

func arranged[T any](items []T, order []int) []T {
	result := make([]T, len(order))
	for i, n := range order {
		result[i] = items[n]
	}
	return result
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
