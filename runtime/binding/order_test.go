package binding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime/binding"
)

// TestAll is the order in which rules are asked: Before, then After, by the names of the bindings.
func TestAll(t *testing.T) {
	set, err := binding.NewSet(byName(policy(t, "a"), policy(t, "b"), policy(t, "c"), policy(t, "d")), []*v1alpha1.PodFailurePolicyBinding{
		bindingOf("4", "a"), bindingOf("2", "b", after), bindingOf("3", "c", audit), bindingOf("1", "d", after),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for policy, bound := range selection.All() {
		got = append(got, bound.Name+policy.Name)
	}
	if diff := cmp.Diff([]string{"3c", "4a", "1d", "2b"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for policy := range selection.All() {
		if policy.Name != "c" {
			t.Errorf("after the first: %s", policy.Name)
		}
		break
	}
}
