package runtime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// keeping returns a policy of generation 3 that does not compile, with a last good version in its
// status.
func keeping(generation int64, rules ...v1alpha1.Rule) *v1alpha1.PodFailurePolicy {
	return &v1alpha1.PodFailurePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu", Generation: 3},
		Spec:       v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{{Name: "oom", When: "pod", Action: failJob}}},
		Status: v1alpha1.PodFailurePolicyStatus{
			LastGood: &v1alpha1.LastGood{Generation: generation, Spec: v1alpha1.PodFailurePolicySpec{Rules: rules}},
		},
	}
}

// TestLastGood checks that the last good version is compiled as if the API server had just stored
// it, unless it cannot be in effect.
func TestLastGood(t *testing.T) {
	rule := v1alpha1.Rule{Name: "oom", When: "true", Action: ignore, Budget: &v1alpha1.Budget{Limit: 1, Then: failJob}}
	const notOlder = "the status keeps no older version of the policy"
	for name, c := range map[string]struct {
		policy *v1alpha1.PodFailurePolicy
		want   string // "" for no error
	}{
		"good":           {keeping(2, rule), ""},
		"none":           {&v1alpha1.PodFailurePolicy{}, notOlder},
		"same":           {keeping(3, rule), notOlder},
		"later":          {keeping(4, rule), notOlder},
		"empty":          {keeping(0), "spec.rules: Required value"},
		"invalid":        {keeping(2, v1alpha1.Rule{Name: "oom", When: "true", Action: "Explode"}), `spec.rules[0].action: Unsupported value: "Explode"`},
		"does not check": {keeping(2, v1alpha1.Rule{Name: "oom", When: "pod", Action: ignore}), "spec.rules[0].when"},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.policy.DeepCopy()
			last, err := runtime.NewLastGood(newEnvironment(t), c.policy)
			if diff := cmp.Diff(before, c.policy); diff != "" {
				t.Errorf("the policy has changed:\n%s", diff)
			}
			if c.want != "" {
				if err == nil || last != nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, %v, want %s", last, err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			stored := rule
			stored.Phase, stored.Budget = corev1.PodFailed, &v1alpha1.Budget{Limit: 1, Then: failJob, Per: v1alpha1.PerJob}
			if diff := cmp.Diff([]v1alpha1.Rule{stored}, last.Rules); diff != "" || last.Name != "gpu" {
				t.Errorf("%s (-want +got):\n%s", last.Name, diff)
			}
		})
	}
}
