package binding_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

const noSuchKey = "job.metadata.annotations['none'] == 'x'"

// policyOnBoth returns a policy with a rule on failed pods and one on pending pods.
func policyOnBoth(t *testing.T, failurePolicy v1alpha1.FailurePolicy, condition, when string) *runtime.Policy {
	t.Helper()
	e, err := language()
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "platform"}, Spec: v1alpha1.PodFailurePolicySpec{
		FailurePolicy: failurePolicy, MatchConditions: []v1alpha1.MatchCondition{{Name: "c", Expression: condition}},
		Rules: []v1alpha1.Rule{
			{Name: "failed", When: when, Action: batchv1.PodFailurePolicyActionIgnore},
			{Name: "pending", Phase: corev1.PodPending, When: when, Action: batchv1.PodFailurePolicyActionFailJob},
		},
	}}
	object.SetDefaults()
	compiled, err := runtime.NewCustomPolicy(e, object)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestFailurePolicy checks which policies are in effect for a Job and what happens to its pods if a match condition or a
// rule cannot be evaluated. No pod is deleted because of an error.
func TestFailurePolicy(t *testing.T) {
	const ignore, fail = v1alpha1.FailurePolicyIgnore, v1alpha1.FailurePolicyFail
	for name, c := range map[string]struct {
		failurePolicy   v1alpha1.FailurePolicy
		condition, when string
		inForce         bool
		problems        int
		matched, told   bool // whether a rule matches a failed pod, and whether the error is reported
		pending         binding.LivingStep
	}{
		"all is well":                    {ignore, "true", "true", true, 0, true, false, binding.EndLiving},
		"no match":                       {fail, "false", "true", false, 0, false, false, binding.LeaveLiving},
		"condition, ignored":             {ignore, noSuchKey, "true", false, 1, false, false, binding.LeaveLiving},
		"condition, not ignored":         {fail, noSuchKey, "true", true, 1, false, true, binding.TellLiving},
		"rule, ignored":                  {ignore, "true", noSuchKey, true, 0, false, true, binding.TellLiving},
		"rule, not ignored":              {fail, "true", noSuchKey, true, 0, false, true, binding.TellLiving},
		"a condition with its own guard": {fail, noSuchKey + " && false", "true", false, 0, false, false, binding.LeaveLiving},
	} {
		set, err := binding.NewSet(byName(policyOnBoth(t, c.failurePolicy, c.condition, c.when)), []*v1alpha1.PodFailurePolicyBinding{
			bindingOf("1", "platform", deletes), bindingOf("2", "platform", audit),
		})
		if err != nil {
			t.Fatal(err)
		}
		selection := set.For(t.Context(), &batchv1.Job{}, nil)
		for _, problem := range selection.Problems {
			if !strings.HasPrefix(problem.Error(), "PodFailurePolicy platform: spec.matchConditions[0].expression: ") {
				t.Errorf("%s: %v", name, problem)
			}
		}
		if selection.Empty() == c.inForce || len(selection.Problems) != c.problems || selection.Audits() {
			t.Errorf("%s: in force %t, problems %v", name, !selection.Empty(), selection.Problems)
		}
		if memberships, err := set.Explain(t.Context(), &batchv1.Job{}, nil); err != nil || (memberships[0].Outcome == binding.InForce) != c.inForce {
			t.Errorf("%s: %+v, %v", name, memberships, err)
		}
		if c.inForce {
			in := runtime.Input{Pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, Attempt: 1}
			if v := selection.Effect(nil, true, "").Acting.Judge(t.Context(), in); v.Matched != c.matched || (v.Err != nil) != c.told || !v.Terminal {
				t.Errorf("%s: %+v", name, v)
			}
		}
		in := runtime.Input{Pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, Attempt: 1}
		got := selection.DecideLiving(t.Context(), in)
		if got.Step != c.pending || got.Step == binding.TellLiving && got.Verdict.Err == nil {
			t.Errorf("%s: a pending pod: %s, %v", name, got.Step, got.Verdict.Err)
		}
	}
}
