package binding_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

func deletes(s *v1alpha1.PodFailurePolicyBindingSpec) { s.PendingPods = v1alpha1.PendingPodsDelete }

// TestEndedPending: a binding that only audits, or ignores pending pods, is in nobody's way.
func TestEndedPending(t *testing.T) {
	set, err := binding.NewSet(byName(policy(t, "a"), policy(t, "b"), policy(t, "c"), policy(t, "d")), []*v1alpha1.PodFailurePolicyBinding{
		bindingOf("1", "a"), bindingOf("2", "b", audit, deletes), bindingOf("3", "c", deletes, after), bindingOf("4", "d", deletes),
	})
	if err != nil {
		t.Fatal(err)
	}
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for pod, want := range map[string][2]string{ // ended and audited
		"a": {"", ""}, "b": {"", "2"}, "c": {"3", "3"}, "d": {"4", "4"}, "none": {"", ""},
		"ac": {"3", "3"}, "bc": {"3", "2"}, "cd": {"4", "4"}, "abcd": {"4", "2"},
	} {
		in := runtime.Input{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		v, ended := selection.EndedPending(t.Context(), in)
		w, audited := selection.AuditedPending(t.Context(), in)
		if got := [2]string{nameOf(ended), nameOf(audited)}; got != want || v.Matched != (want[0] != "") || w.Matched != (want[1] != "") {
			t.Errorf("%s: %v, want %v", pod, got, want)
		}
	}
}

func nameOf(b *v1alpha1.PodFailurePolicyBinding) string {
	if b == nil {
		return ""
	}
	return b.Name
}

func TestEnds(t *testing.T) {
	onFailed := policy(t, "failed")
	onFailed.Rules = onFailed.Rules[:1]
	for name, c := range map[string]struct {
		binding *v1alpha1.PodFailurePolicyBinding
		want    bool
	}{
		"deletes":             {bindingOf("1", "a", deletes), true},
		"would delete":        {bindingOf("1", "a", deletes, audit), true},
		"ignores":             {bindingOf("1", "a"), false},
		"has no rule on them": {bindingOf("1", "failed", deletes), false},
	} {
		set, err := binding.NewSet(byName(policy(t, "a"), onFailed), []*v1alpha1.PodFailurePolicyBinding{c.binding})
		if err != nil {
			t.Fatal(err)
		}
		if got := set.For(t.Context(), &batchv1.Job{}, nil).Ends(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
