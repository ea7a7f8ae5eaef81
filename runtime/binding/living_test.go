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

func deletes(s *v1alpha1.PodFailurePolicyBindingSpec) { s.LivingPods = v1alpha1.LivingPhases }

// TestLiving checks that rules of bindings that end pods are tried first, then the others, each in order, and that the
// verdict includes the binding.
func TestLiving(t *testing.T) {
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
	for pod, want := range map[string][2]string{ // with the actual modes, and as if all bindings enforced
		"a": {"1", "1"}, "b": {"2", "2"}, "c": {"3", "3"}, "d": {"4", "4"}, "none": {"", ""},
		"ab": {"1", "2"}, "ac": {"3", "3"}, "bc": {"3", "2"}, "cd": {"4", "4"}, "abcd": {"4", "2"},
	} {
		in := runtime.Input{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		v, audited := selection.Living(t.Context(), in, false), selection.Living(t.Context(), in, true)
		got := [2]string{nameOf(v.Binding), nameOf(audited.Binding)}
		if got != want || v.Matched != (want[0] != "") || v.Ends(in.Pod) != (got[0] > "1") {
			t.Errorf("%s: %v, want %v", pod, got, want)
		}
		if v.Matched && (v.RuleName != "pending" || v.Action != batchv1.PodFailurePolicyActionFailJob) {
			t.Errorf("%s: %+v", pod, v.Verdict)
		}
	}
}

func nameOf(b *v1alpha1.PodFailurePolicyBinding) string {
	if b == nil {
		return ""
	}
	return b.Name
}

func TestHasRulesOn(t *testing.T) {
	set, err := binding.NewSet(byName(policy(t, "a")), []*v1alpha1.PodFailurePolicyBinding{bindingOf("1", "a")})
	if err != nil {
		t.Fatal(err)
	}
	selection := set.For(t.Context(), &batchv1.Job{}, nil)
	for phase, want := range map[corev1.PodPhase]bool{corev1.PodFailed: true, corev1.PodPending: true, corev1.PodRunning: false} {
		if got := selection.HasRulesOn(phase, v1alpha1.PhaseTerminating); got != want {
			t.Errorf("%s: %t", phase, got)
		}
	}
}
