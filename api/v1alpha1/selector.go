package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// LabelSelector selects objects that have all labels in matchLabels and meet all matchExpressions. The empty selector selects
// everything. It is metav1.LabelSelector with limits, so that the schema refuses every selector that could not be evaluated.
//
// +structType=atomic
// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || self.matchLabels.all(k, k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && k.indexOf('/') <= 253)",fieldPath=".matchLabels",message="must have label keys only"
type LabelSelector struct {
	// matchLabels are labels that the object must have, with these values. At most 64.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// matchExpressions are requirements on the object's labels. At most 64.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a requirement on an object's labels.
//
// +kubebuilder:validation:XValidation:rule="(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",fieldPath=".values",message="must have a value for In and NotIn, and none for Exists and DoesNotExist"
type LabelRequirement struct {
	// key is the label's key. At most 317 characters.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253",message="must have at most 253 characters before the slash"
	Key string `json:"key"`

	// operator says what is required: In and NotIn compare the label's value, Exists and DoesNotExist test for the label.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// values are the values for In and NotIn, which need at least one; other operators take none. At most 64.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Values []LabelValue `json:"values,omitempty"`
}

// LabelValue is the value of a label: empty, or letters, digits, dashes, underscores and dots, starting and ending with a
// letter or digit. At most 63 characters.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// Selector returns the selector in the form that matches labels. A nil selector selects everything, as in a binding without
// one. It returns the errors that Validate returns.
func (s *LabelSelector) Selector() (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(s.Kubernetes())
}

// Kubernetes returns the selector as metav1.LabelSelector, or nil for nil. Note that Kubernetes' functions treat nil as a
// selector that selects nothing.
func (s *LabelSelector) Kubernetes() *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	k := &metav1.LabelSelector{}
	for key, value := range s.MatchLabels {
		metav1.AddLabelToSelector(k, key, string(value))
	}
	for _, r := range s.MatchExpressions {
		values := make([]string, len(r.Values))
		for i, v := range r.Values {
			values[i] = string(v)
		}
		k.MatchExpressions = append(k.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: values})
	}
	return k
}
