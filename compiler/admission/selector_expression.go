package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selects converts a label selector to CEL, for labels that an admission policy's own selectors cannot match. The
// argument labels is CEL for an optional map.
func selects(s *metav1.LabelSelector, labels string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		parts = append(parts, meets(labels, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{s.MatchLabels[key]},
		}))
	}
	for _, r := range s.MatchExpressions {
		parts = append(parts, meets(labels, r))
	}
	if len(parts) == 0 {
		return "true"
	}
	return strings.Join(parts, " &&\n")
}

// meets converts one requirement of a selector to CEL.
func meets(labels string, r metav1.LabelSelectorRequirement) string {
	label := fmt.Sprintf("%s[?%s]", labels, quote(r.Key))
	in := fmt.Sprintf("%s.optMap(label, label in %s)", label, literal(r.Values))
	switch r.Operator {
	case metav1.LabelSelectorOpIn:
		return in + ".orValue(false)"
	case metav1.LabelSelectorOpNotIn:
		return "!" + in + ".orValue(false)"
	case metav1.LabelSelectorOpExists:
		return label + ".hasValue()"
	default:
		return "!" + label + ".hasValue()"
	}
}
