package podverdict_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
)

func BenchmarkJudge(b *testing.B) {
	oom := &v1alpha1.PodFailurePolicy{}
	oom.Name = "oom"
	oom.Spec.Rules = []v1alpha1.Rule{{Name: "killed", Action: "FailJob", When: "pod.failedContainers().exists(c, c.oomKilled)"}}
	engine, err := podverdict.New(oom)
	if err != nil {
		b.Fatal(err)
	}
	limited := job.DeepCopy()
	limited.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42, 43}},
	}, {
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}},
	}}}
	b.ReportAllocs()
	for b.Loop() {
		if v, err := engine.Judge(b.Context(), limited, pod, podverdict.Enforced(true)); err != nil || !v.Matched {
			b.Fatal(v, err)
		}
	}
}

// A done context yields no verdict: a verdict would only reflect that no rule could be evaluated.
func TestContextIsDone(t *testing.T) {
	engine, err := podverdict.New(oom)
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, options := range map[string][]podverdict.Option{"alone": nil, "with others": {podverdict.Earlier(pod)}} {
		if v, err := engine.Judge(done, job, pod, options...); !errors.Is(err, context.Canceled) || v.Terminal {
			t.Errorf("%s: Judge: %+v, %v", name, v, err)
		}
		if e, err := engine.Explain(done, job, pod, options...); !errors.Is(err, context.Canceled) || e.Verdict.Terminal {
			t.Errorf("%s: Explain: %+v, %v", name, e.Verdict, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	nameless, broken := oom.DeepCopy(), oom.DeepCopy()
	nameless.Name, broken.Spec.Rules[0].When = "", "pod.nothing"
	for want, policies := range map[string][]*v1alpha1.PodFailurePolicy{
		"policy 1 is nil":                                   {oom, nil},
		`policy "": it has no name`:                         {nameless},
		`policy "oom": there are two policies of this name`: {oom, oom},
		`policy "oom": spec.rules[0].when`:                  {broken},
	} {
		if _, err := podverdict.New(policies...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Each earlier Pod uses up the budget once. Pods are identified by name.
func TestEarlier(t *testing.T) {
	twice := oom.DeepCopy()
	twice.Spec.Rules[0].Action, twice.Spec.Rules[0].Budget = "Ignore", &v1alpha1.Budget{Limit: 2, Then: "FailJob"}
	engine, err := podverdict.New(twice)
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) *corev1.Pod {
		p := pod.DeepCopy()
		p.Name = name
		return p
	}
	a, b, c := named("a"), named("b"), named("c")
	for _, test := range []struct {
		earlier []*corev1.Pod
		pod     *corev1.Pod
		want    string
	}{
		{nil, c, "Ignore <nil>"},
		{[]*corev1.Pod{a}, c, "Ignore <nil>"},
		{[]*corev1.Pod{a, a, c}, c, "Ignore <nil>"},
		{[]*corev1.Pod{a, b}, c, "FailJob <nil>"},
		{[]*corev1.Pod{a, b}, named(""), " the Pod has no name: Earlier matches Pods by name"},
		{[]*corev1.Pod{a, named("")}, c, " earlier Pod 1 has no name: Earlier matches Pods by name"},
	} {
		v, err := engine.Judge(t.Context(), job, test.pod, podverdict.Earlier(test.earlier...))
		if got := fmt.Sprint(v.Action, " ", err); got != test.want {
			t.Errorf("%d before %q: %s, want %s", len(test.earlier), test.pod.Name, got, test.want)
		}
	}
}

// The last of two options wins. Without policies in effect, Jobs whose rules differ in one field get their own
// verdicts.
func TestOptionsAndRules(t *testing.T) {
	always := oom.DeepCopy()
	always.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "batch", Expression: "job.metadata.namespace == 'batch'"}}
	for name, policies := range map[string][]*v1alpha1.PodFailurePolicy{"plain": {oom}, "conditional": {always}} {
		engine, err := podverdict.New(policies...)
		if err != nil {
			t.Fatal(err)
		}
		for container, want := range map[string]string{"main": "Ignore", "other": "Count"} {
			limited := job.DeepCopy()
			limited.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:      batchv1.PodFailurePolicyActionIgnore,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &container, Operator: "In", Values: []int32{137}},
			}}}
			for range 2 {
				v, err := engine.Judge(t.Context(), limited, pod, podverdict.Enforced(true), podverdict.Enforced(false))
				if err != nil || string(v.Action) != want {
					t.Errorf("%s, rule for container %s: %s, %v", name, container, v.Action, err)
				}
				if v, err := engine.Judge(t.Context(), limited, pod, podverdict.Enforced(false), podverdict.Enforced(true)); err != nil || v.Policy != "oom" {
					t.Errorf("%s, enforced: %+v, %v", name, v, err)
				}
			}
		}
	}
}
