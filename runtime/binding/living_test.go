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

// TestPending: rules that stand before are asked first, and the binding comes with the verdict. A binding that only audits, or
// ignores pending pods, does not keep the others from ending a pod.
func TestPending(t *testing.T) {
	set, err := binding.NewSet(byName(policy(t, "a"), policy(t, "b"), policy(t, "c"), policy(t, "d")), []*v1alpha1.PodFailurePolicyBinding{
		bindingOf("1", "a"), bindingOf("2", "b", audit, deletes), bindingOf("3", "c", deletes, after), bindingOf("4", "d", deletes),
	})
	if err != nil {
		t.Fatal(err)
	}
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	if !selection.Audits() || selection.Empty() {
		t.Errorf("%+v", selection)
	}
	for pod, want := range map[string][3]string{ // matched, ended and audited
		"a": {"1", "", ""}, "b": {"2", "", "2"}, "c": {"3", "3", "3"}, "d": {"4", "4", "4"}, "none": {"", "", ""},
		"ac": {"1", "3", "3"}, "bc": {"2", "3", "2"}, "cd": {"4", "4", "4"}, "abcd": {"1", "4", "2"},
	} {
		in := runtime.Input{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		u, matched := selection.Pending(t.Context(), in)
		v, ended := selection.EndedPending(t.Context(), in)
		w, audited := selection.AuditedPending(t.Context(), in)
		got := [3]string{nameOf(matched), nameOf(ended), nameOf(audited)}
		if got != want || u.Matched != (want[0] != "") || v.Matched != (want[1] != "") || w.Matched != (want[2] != "") {
			t.Errorf("%s: %v, want %v", pod, got, want)
		}
		if u.Matched && (u.RuleName != "pending" || u.Action != batchv1.PodFailurePolicyActionFailJob) {
			t.Errorf("%s: %+v", pod, u)
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
