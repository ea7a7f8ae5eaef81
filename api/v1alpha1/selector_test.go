package v1alpha1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func TestSelector(t *testing.T) {
	full := &v1alpha1.LabelSelector{
		MatchLabels: map[string]v1alpha1.LabelValue{"team": "a"},
		MatchExpressions: []v1alpha1.LabelRequirement{
			{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []v1alpha1.LabelValue{"x", "y"}},
			{Key: "gpu", Operator: metav1.LabelSelectorOpExists},
		},
	}
	for _, tc := range []struct {
		name     string
		selector *v1alpha1.LabelSelector
		labels   labels.Set
		want     bool
	}{
		{"none", nil, nil, true},
		{"empty", &v1alpha1.LabelSelector{}, labels.Set{"team": "b"}, true},
		{"all requirements", full, labels.Set{"team": "a", "gpu": ""}, true},
		{"other label", full, labels.Set{"team": "b", "gpu": ""}, false},
		{"excluded value", full, labels.Set{"team": "a", "gpu": "", "tier": "y"}, false},
		{"no label", full, labels.Set{"team": "a"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			selector, err := tc.selector.Selector()
			if err != nil {
				t.Fatal(err)
			}
			if got := selector.Matches(tc.labels); got != tc.want {
				t.Errorf("%s matches %v: %t", selector, tc.labels, got)
			}
		})
	}
}

func TestSelectorThatIsNone(t *testing.T) {
	b := v1alpha1.PodFailurePolicyBinding{Spec: v1alpha1.PodFailurePolicyBindingSpec{
		PolicyName:  "any",
		JobSelector: &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn}}},
	}}
	want := "spec.jobSelector.matchExpressions[0].values: Invalid value: must have 1 value at least for In"
	if got := b.Validate().ToAggregate(); got == nil || got.Error() != want {
		t.Errorf("Validate says %v, want %s", got, want)
	}
	if s, err := b.Spec.JobSelector.Selector(); err == nil {
		t.Errorf("Selector makes %v of it", s)
	}
}
