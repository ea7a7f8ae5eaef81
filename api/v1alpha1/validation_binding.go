package v1alpha1

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxSelector is the maximum number of a selector's labels, of its expressions, and of values in each of these.
const MaxSelector = 64

// Validate returns the errors that the schema in the CustomResourceDefinition finds in the spec, with or without defaults. It
// does not check whether the policy exists. A required field that is empty counts as missing, because Go programs send it
// empty.
func (b *PodFailurePolicyBinding) Validate() field.ErrorList {
	at := field.NewPath("spec")
	all := requiredText(at.Child("policyName"), b.Spec.PolicyName, maxPolicyName, validation.IsDNS1123Subdomain)
	all = append(all, b.Spec.NamespaceSelector.validate(at.Child("namespaceSelector"))...)
	all = append(all, b.Spec.JobSelector.validate(at.Child("jobSelector"))...)
	all = append(all, oneOf(at.Child("position"), b.Spec.Position, PositionBefore, PositionAfter)...)
	all = append(all, oneOf(at.Child("mode"), b.Spec.Mode, ModeEnforce, ModeAudit)...)
	return append(all, livingPods(at.Child("livingPods"), b.Spec.LivingPods)...)
}

func livingPods(at *field.Path, phases []corev1.PodPhase) (all field.ErrorList) {
	if len(phases) > len(LivingPhases) {
		all = append(all, field.TooMany(at, len(phases), len(LivingPhases)))
	}
	for i, phase := range phases {
		all = append(all, requiredOneOf(at.Index(i), phase, LivingPhases...)...)
		if slices.Contains(phases[:i], phase) {
			all = append(all, field.Duplicate(at.Index(i), phase))
		}
	}
	return all
}

func (s *LabelSelector) validate(at *field.Path) (all field.ErrorList) {
	if s == nil {
		return nil
	}
	matchLabels := at.Child("matchLabels")
	if len(s.MatchLabels) > MaxSelector {
		all = append(all, field.TooMany(matchLabels, len(s.MatchLabels), MaxSelector))
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		for _, message := range validation.IsQualifiedName(key) {
			all = append(all, field.Invalid(matchLabels, key, message))
		}
		all = append(all, s.MatchLabels[key].validate(matchLabels.Key(key))...)
	}
	matchExpressions := at.Child("matchExpressions")
	if len(s.MatchExpressions) > MaxSelector {
		all = append(all, field.TooMany(matchExpressions, len(s.MatchExpressions), MaxSelector))
	}
	for i := range s.MatchExpressions {
		all = append(all, s.MatchExpressions[i].validate(matchExpressions.Index(i))...)
	}
	return all
}

func (r *LabelRequirement) validate(at *field.Path) field.ErrorList {
	all := requiredText(at.Child("key"), r.Key, maxQualifiedName, validation.IsQualifiedName)
	all = append(all, requiredOneOf(at.Child("operator"), r.Operator, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)...)
	values := at.Child("values")
	if len(r.Values) > MaxSelector {
		all = append(all, field.TooMany(values, len(r.Values), MaxSelector))
	}
	for i, v := range r.Values {
		all = append(all, v.validate(values.Index(i))...)
	}
	switch r.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(r.Values) == 0 {
			all = append(all, field.Invalid(values, field.OmitValueType{}, fmt.Sprintf("must have 1 value at least for %s", r.Operator)))
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			all = append(all, field.Invalid(values, field.OmitValueType{}, fmt.Sprintf("must have no value for %s", r.Operator)))
		}
	}
	return all
}

func (v LabelValue) validate(at *field.Path) field.ErrorList {
	return text(at, string(v), validation.LabelValueMaxLength, validation.IsValidLabelValue)
}
