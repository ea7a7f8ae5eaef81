package runtime_test

import (
	stdcmp "cmp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// stuck returns a rule on Pending whose message is the value of an annotation.
func stuck(reason string) v1alpha1.Rule {
	return v1alpha1.Rule{
		Name: "stuck", Phase: corev1.PodPending, When: "true", Action: ignore, Reason: reason,
		MessageExpression: "pod.metadata.?annotations[?'said'].orValue('')",
		Budget:            &v1alpha1.Budget{Limit: 2, Per: v1alpha1.PerJob, Then: failJob},
	}
}

// onFailed returns a rule on every failed pod.
func onFailed() v1alpha1.Rule { return v1alpha1.Rule{Name: "failed", When: "true", Action: count} }

func pendingPod(said string) *corev1.Pod { return livingPod(corev1.PodPending, said) }

func livingPod(phase corev1.PodPhase, said string) *corev1.Pod {
	pod := namedPod("default", "p")
	pod.Status.Phase = phase
	if phase == v1alpha1.PhaseTerminating {
		pod.Status.Phase, pod.DeletionTimestamp = corev1.PodRunning, &metav1.Time{Time: time.Unix(1e9, 0)}
	}
	pod.Annotations = map[string]string{"said": said}
	return pod
}

// afterDeletion returns the final state of a pod that was deleted because of a rule, and the rule's verdict.
func afterDeletion(t testing.TB, policy *runtime.Policy, pod *corev1.Pod) (*corev1.Pod, runtime.Verdict) {
	t.Helper()
	v, decided := policy.Living(t.Context(), runtime.Input{Pod: pod})
	if !decided || !v.Matched {
		t.Fatalf("%t %+v", decided, v)
	}
	if c := policy.PodCondition(v); c.Reason != stdcmp.Or(v.Reason, string(v1alpha1.PhaseOf(pod))+"Rule") {
		t.Fatalf("%+v", c)
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	pod.Status.Conditions = append(pod.Status.Conditions, policy.PodCondition(v))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{*container("main", 137)} // as the kubelet reports a container that never ran
	return pod, v
}

func judgment(t testing.TB, p *runtime.Program, pod *corev1.Pod) runtime.Verdict {
	t.Helper()
	return p.Judge(t.Context(), runtime.Input{Pod: pod, Attempt: 1})
}

// TestLivingVerdictIsReadBack checks that the verdict on a failed pod equals the rule's verdict on the living pod.
func TestLivingVerdictIsReadBack(t *testing.T) {
	for phase, named := range map[corev1.PodPhase]string{
		corev1.PodPending: v1alpha1.ReasonPendingRule, corev1.PodRunning: v1alpha1.ReasonRunningRule,
		v1alpha1.PhaseTerminating: v1alpha1.ReasonTerminatingRule,
	} {
		for _, reason := range []string{"", "Late", named} {
			rule := stuck(reason)
			rule.Phase = phase
			rule.Condition = map[string]string{"Late": "example.com/Late"}[reason]
			policy := customPolicy(t, "start.example", onFailed(), rule)
			rapid.Check(t, func(r *rapid.T) {
				said := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
					"", "Late", "Late: again", ": ", named, named + ": x", " rule x of PodFailurePolicy y", "a\nb",
				})).Draw(r, "said")
				if len(said) > custom.MaxMessage {
					r.Skip("too long")
				}
				pod, want := afterDeletion(t, policy, livingPod(phase, strings.ToValidUTF8(said, "?")))
				want.MessageErr = nil // reported when the rule matches
				for _, p := range []*runtime.Program{
					runtime.Join([]*runtime.Policy{policy}, nil, nil), runtime.Join(nil, nil, []*runtime.Policy{policy}),
				} {
					got := judgment(t, p, pod)
					if !got.Equal(want) || got.Message() != want.Message() || got.UsedUp().Message() != want.UsedUp().Message() {
						r.Fatalf("%+v %q, want %+v %q", got, got.Message(), want, want.Message())
					}
				}
			})
		}
	}
}

// TestLivingRuleDecidesFirst checks that neither the exit code of a container that never ran nor earlier rules decide.
func TestLivingRuleDecidesFirst(t *testing.T) {
	own := runtime.NewProgram(compiled(t, policyOf(t, `[{action: FailJob, onExitCodes: {operator: In, values: [137]}}]`)))
	policy := customPolicy(t, "start", stuck("Late"))
	p := runtime.Join([]*runtime.Policy{customPolicy(t, "all", onFailed())}, own, []*runtime.Policy{policy})
	pod, _ := afterDeletion(t, policy, pendingPod("slow"))
	if got := judgment(t, p, pod); got.Policy != "start" || got.RuleName != "stuck" || got.Action != ignore || got.Budget.Limit != 2 {
		t.Errorf("%+v", got)
	}
	want := "Pod default/p matching Ignore rule stuck of PodFailurePolicy start: Late: slow"
	if got := judgment(t, p, pod).Message(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	explanation, err := p.Explain(t.Context(), runtime.Input{Pod: pod, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range explanation.Rules {
		got = append(got, r.Subject()+": "+string(r.Outcome))
	}
	if diff := cmp.Diff([]string{"rule stuck of start: matched", "rule failed of all: not reached", "rule 0: not reached"}, got); diff != "" {
		t.Error(diff)
	}
	if first := explanation.Rules[0]; first.Expression != "true" || first.Because == "" || !first.Holds || len(first.Elements) != 1 {
		t.Errorf("%+v", first)
	}
}

// TestLivingRuleIsWhatItIsNow checks that the current definition of the rule applies. The condition only stores its name.
func TestLivingRuleIsWhatItIsNow(t *testing.T) {
	pod, _ := afterDeletion(t, customPolicy(t, "start", stuck("Late")), pendingPod("slow"))
	edited := stuck("Slow")
	edited.Action, edited.Budget, edited.When = failJob, nil, "false"
	policy := customPolicy(t, "start", onFailed(), edited)
	got := judgment(t, runtime.Join([]*runtime.Policy{policy}, nil, nil), pod)
	want := "Pod default/p matching FailJob rule stuck of PodFailurePolicy start: Slow: slow"
	if got.Message() != want || got.Rule != 1 || got.Budget.Limit != 0 || got.Reason != "Slow" || !got.Counted {
		t.Errorf("%+v %q, want %q", got, got.Message(), want)
	}
}

// TestPodsThatNoLivingRuleEnded checks that the rules on Failed decide about pods that no rule ended.
func TestPodsThatNoLivingRuleEnded(t *testing.T) {
	policy := customPolicy(t, "start", onFailed(), stuck("Late"))
	renamed := stuck("Late")
	renamed.Name = "renamed"
	onFailedNow := stuck("Late")
	onFailedNow.Phase, onFailedNow.Budget, onFailedNow.Action = corev1.PodFailed, nil, failJob
	condition := func(change func(*corev1.PodCondition)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { change(&p.Status.Conditions[0]) }
	}
	says := func(message string) func(*corev1.Pod) {
		return condition(func(c *corev1.PodCondition) { c.Message = message })
	}
	for name, c := range map[string]struct {
		policy *runtime.Policy
		change func(*corev1.Pod)
		rule   string
	}{
		"as it is":              {policy, func(*corev1.Pod) {}, "stuck"},
		"without the condition": {policy, func(p *corev1.Pod) { p.Status.Conditions = nil }, "failed"},
		"taken back":            {policy, condition(func(c *corev1.PodCondition) { c.Status = corev1.ConditionFalse }), "failed"},
		"another condition":     {policy, condition(func(c *corev1.PodCondition) { c.Type = corev1.DisruptionTarget }), "failed"},
		"behind another condition": {policy, func(p *corev1.Pod) {
			other := p.Status.Conditions[0]
			other.Type = "example.com/Other"
			p.Status.Conditions = append([]corev1.PodCondition{other}, p.Status.Conditions...)
		}, "stuck"},
		"no message":            {policy, says(""), "failed"},
		"of another pod":        {policy, func(p *corev1.Pod) { p.Name = "q" }, "failed"},
		"cut before the rule":   {policy, says("Pod default/p matching Ignore"), "failed"},
		"cut before the policy": {policy, says("Pod default/p matching Ignore rule stuck"), "failed"},
		"of another policy":     {policy, says("Pod default/p matching Ignore rule stuck of PodFailurePolicy start2: Late"), "failed"},
		"of a rule on Failed":   {policy, says("Pod default/p matching Ignore rule failed of PodFailurePolicy start: Late"), "failed"},
		"of a rule that is gone": {
			customPolicy(t, "start", onFailed(), renamed), func(*corev1.Pod) {}, "failed",
		},
		"of a rule that is on Failed now": {
			customPolicy(t, "start", onFailed(), onFailedNow), func(*corev1.Pod) {}, "failed",
		},
		"not failed": {policy, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod, _ := afterDeletion(t, policy, pendingPod("slow"))
			c.change(pod)
			if got := judgment(t, runtime.Join(nil, nil, []*runtime.Policy{c.policy}), pod); got.RuleName != c.rule {
				t.Errorf("%+v, want rule %q", got, c.rule)
			}
		})
	}
	pod, _ := afterDeletion(t, policy, pendingPod("slow"))
	own := runtime.NewProgram(compiled(t, policyOf(t, `[{action: FailJob, onPodConditions: [{type: podverdict.io/FailingToStart, status: "True"}]}]`)))
	if got := judgment(t, own, pod); got.Message() != "Pod default/p has condition podverdict.io/FailingToStart matching FailJob rule at index 0" {
		t.Errorf("by the Job's own rule: %+v %q", got, got.Message())
	}
}
