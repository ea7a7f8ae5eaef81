package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// failed returns a pod whose container main failed in the given way.
func failed(t corev1.ContainerStateTerminated) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &t},
		}}},
	}
}

func exitCode(code int32) *corev1.Pod {
	return failed(corev1.ContainerStateTerminated{ExitCode: code, Message: "said"})
}

// bothWays returns the policy for both ways of evaluation.
func bothWays(p *runtime.Policy) map[string]*runtime.Policy {
	return map[string]*runtime.Policy{"fast path": p, "interpreter": p.Interpreted()}
}

func TestEvaluate(t *testing.T) {
	env := newEnvironment(t)
	policy := compilePolicy(t, env, &v1alpha1.PodFailurePolicySpec{
		FailurePolicy: v1alpha1.FailurePolicyFail,
		Variables: []v1alpha1.Variable{
			{Name: "codes", Expression: "pod.failedContainers().map(c, c.exitCode)"},
			{Name: "first", Expression: "pod.failedContainers()[0]"},
			{Name: "broken", Expression: "pod.metadata.labels['none'] == 'x'"},
		},
		Rules: []v1alpha1.Rule{
			{Name: "codes", When: "variables.codes.exists(c, c == 3)", MessageExpression: "'exit ' + string(variables.first.exitCode) + ' in ' + variables.first.name"},
			{Name: "attempts", When: "attempt > 2 && pod.failedContainers().exists(c, c.exitCode == 4)", MessageExpression: "variables.first.message + pod.metadata.labels['none']"},
			{Name: "job", When: "job.spec.?backoffLimit.orValue(6) == 0"},
			{Name: "long", When: "pod.failedContainers().exists(c, c.exitCode == 5)", MessageExpression: "pod.failedContainers()[0].message"},
			{Name: "pending", Phase: corev1.PodPending, When: "now - pod.metadata.creationTimestamp > duration('1m')", MessageExpression: "string(now)"},
			{Name: "error", When: "pod.failedContainers().exists(c, c.exitCode == 6) && variables.broken"},
			{Name: "after", When: "pod.failedContainers().exists(c, c.exitCode in [6, 7])"},
		},
	})
	long := failed(corev1.ContainerStateTerminated{ExitCode: 5, Message: strings.Repeat("x", custom.MaxMessage+1)})
	limit := func(n int32) *batchv1.Job { return &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimit: &n}} }
	pending := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(someTime)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, c := range []struct {
		name string
		in   runtime.Input
		want string
	}{
		{"the first rule that matches", runtime.Input{Pod: exitCode(3), Job: limit(0), Attempt: 3}, `rule 0, message "exit 3 in main" (<nil>), error <nil>`},
		{"attempts", runtime.Input{Pod: exitCode(4), Attempt: 3}, `rule 1, message "" (spec.rules[1].messageExpression: no such key: labels), error <nil>`},
		{"too few attempts, and no Job", runtime.Input{Pod: exitCode(4), Attempt: 2}, `rule -1, message "" (<nil>), error <nil>`},
		{"the Job", runtime.Input{Pod: exitCode(9), Job: limit(0)}, `rule 2, message "" (<nil>), error <nil>`},
		{"another Job", runtime.Input{Pod: exitCode(9), Job: limit(1)}, `rule -1, message "" (<nil>), error <nil>`},
		{"a message that is too long", runtime.Input{Pod: long}, `rule 3, message "" (spec.rules[3].messageExpression: the message has 4097 bytes: at most 4096 are shown), error <nil>`},
		{"no message", runtime.Input{Pod: failed(corev1.ContainerStateTerminated{ExitCode: 5, Message: " \n"})}, `rule 3, message "" (spec.rules[3].messageExpression: the message is empty), error <nil>`},
		{"an error ends it", runtime.Input{Pod: exitCode(6)}, `rule -1, message "" (<nil>), error spec.rules[5].when: variables.broken: no such key: labels`},
		{"an error that does not matter", runtime.Input{Pod: exitCode(7)}, `rule 6, message "" (<nil>), error <nil>`},
		{"pending", runtime.Input{Pod: pending, Now: someTime.Add(2 * time.Minute)}, `rule 4, message "2026-03-01T12:02:00Z" (<nil>), error <nil>`},
		{"not so long", runtime.Input{Pod: pending, Now: someTime.Add(time.Minute)}, `rule -1, message "" (<nil>), error <nil>`},
		{"running", runtime.Input{Pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, Job: limit(0)}, `rule -1, message "" (<nil>), error <nil>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, p := range bothWays(policy) {
				if got := outcome(t.Context(), p, c.in); got != c.want {
					t.Errorf("%s: got\n%s, want\n%s", name, got, c.want)
				}
			}
		})
	}
}

// TestExpressions checks that an error makes the whole expression an error, unless the rest decides without it.
func TestExpressions(t *testing.T) {
	env := newEnvironment(t)
	pod := exitCode(1)
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "second"})
	pod.Labels = map[string]string{"team": "web"}
	pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	const bad = "pod.status.reason == 'x'" // the pod has no reason
	for when, want := range map[string]string{
		// CEL evaluates some calls with an empty list during planning.
		"pod.metadata.?finalizers.orValue([]) == []":         "yes",
		"pod.containers().map(c, c.name) == []":              "no",
		"pod.containers().map(c, c.name) != []":              "yes",
		"(pod.containers().map(c, c.name) + []).size() == 2": "yes",
		"'main' in []":                         "no",
		"pod.metadata.labels['none'] in []":    "no",
		"!(pod.metadata.labels['none'] in [])": "yes",
		// in tests the keys of a map, regardless of the type of its values.
		"'team' in pod.metadata.labels": "yes", "'cpu' in pod.metadata.labels": "no",
		"'cpu' in pod.spec.overhead": "yes", "'team' in pod.spec.overhead": "no",
		"pod.spec.overhead['cpu'] == '1'": "yes", "pod.spec.?overhead[?'cpu'].orValue('') == '1'": "yes",
		bad:                     "error",
		"true && " + bad:        "error",
		bad + " && true":        "error",
		bad + " && false":       "no",
		"false && " + bad:       "no",
		bad + " || true":        "yes",
		"true || " + bad:        "yes",
		bad + " || false":       "error",
		"!(" + bad + ")":        "error",
		"(" + bad + ") == true": "error",
		bad + " ? true : true":  "error",
		"true ? true : " + bad:  "yes",
		"pod.containers().exists(c, c.name == 'main' || " + bad + ")":                         "yes",
		"pod.containers().exists(c, c.name == 'other' || " + bad + ")":                        "error",
		"pod.containers().all(c, c.name == 'other' && " + bad + ")":                           "no",
		"pod.containers().all(c, c.name == 'main' ? true : " + bad + ")":                      "error",
		"pod.containers().exists_one(c, c.name == 'main' && " + bad + ")":                     "error",
		"pod.containers().filter(c, " + bad + ").size() == 1":                                 "error",
		"pod.containers().filter(c, c.name == 'second' ? " + bad + " : true).exists(c, true)": "error", // the whole list comes first
		"pod.containers()[5].name == 'x'":                                                     "error",
		"pod.containers()[-1].name == 'x'":                                                    "error",
		"pod.containers()[5].name == 'x' || attempt == 1":                                     "yes",
	} {
		t.Run(when, func(t *testing.T) {
			for name, p := range bothWays(compilePolicy(t, env, rules(when))) {
				m, err := p.Evaluate(t.Context(), runtime.Input{Pod: pod, Attempt: 1})
				got := map[bool]string{true: "yes", false: "no"}[m.Rule == 0]
				if err != nil {
					got = "error"
				}
				if got != want {
					t.Errorf("%s: got %s (%v), want %s", name, got, err, want)
				}
			}
		})
	}
}

func TestApplies(t *testing.T) {
	env := newEnvironment(t)
	condition := func(texts ...string) *runtime.Policy {
		spec := rules("true")
		for i, text := range texts {
			spec.MatchConditions = append(spec.MatchConditions, v1alpha1.MatchCondition{Name: fmt.Sprint(i), Expression: text})
		}
		return compilePolicy(t, env, spec)
	}
	const labelled = "job.metadata.labels['team'] == 'training'"
	for _, c := range []struct {
		policy *runtime.Policy
		labels map[string]string
		want   string
	}{
		{condition(), nil, "true <nil>"},
		{condition("true", "job.kind == 'Job'"), nil, "true <nil>"},
		{condition("job.metadata.?labels[?'team'].orValue('') == 'training'"), map[string]string{"team": "training"}, "true <nil>"},
		{condition("job.metadata.?labels[?'team'].orValue('') == 'training'"), map[string]string{"team": "web"}, "false <nil>"},
		{condition(labelled), nil, "false spec.matchConditions[0].expression: no such key: labels"},
		{condition(labelled, "true"), nil, "false spec.matchConditions[0].expression: no such key: labels"},
		{condition(labelled, "false"), nil, "false <nil>"}, // as in ValidatingAdmissionPolicy
		{condition("false", labelled), nil, "false <nil>"},
	} {
		for name, p := range bothWays(c.policy) {
			applies, err := p.Applies(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}})
			if got := fmt.Sprint(applies, " ", err); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	}
}

// TestConditionsAreExplained checks that the parts of a match condition are shown with their values.
func TestConditionsAreExplained(t *testing.T) {
	spec := rules("true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "wide", Expression: "job.spec.parallelism > 1 && job.spec.completions > 5"}}
	job := &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(2)), Completions: new(int32(5))}}
	explained, err := compilePolicy(t, newEnvironment(t), spec).ExplainConditions(t.Context(), job)
	if err != nil || len(explained) != 1 || explained[0].Holds {
		t.Fatalf("got %+v, %v", explained, err)
	}
	var got []string
	for _, v := range explained[0].Values {
		got = append(got, v.Expression+" is "+v.Value)
	}
	want := []string{"job.spec.parallelism > 1 is true", "job.spec.completions > 5 is false"}
	for _, part := range want {
		if !slices.Contains(got, part) {
			t.Errorf("%q is not among %q", part, got)
		}
	}
}

// TestVariablesAreEvaluatedOnce measures the interpreter's cost of a variable that every rule uses, and of one that no rule
// uses.
func TestVariablesAreEvaluatedOnce(t *testing.T) {
	env := newEnvironment(t)
	spec := rules()
	spec.Variables = []v1alpha1.Variable{
		{Name: "costly", Expression: "pod.containers().all(c, pod.containers().all(d, c.name.size() == d.name.size())) ? 1 : 2"},
		{Name: "unused", Expression: "pod.metadata.labels['none']"},
	}
	spec.Rules = rules("variables.costly == 5 || variables.costly == 6 || variables.costly == 7").Rules
	pod := exitCode(1)
	for range 9 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, pod.Status.ContainerStatuses[0])
	}
	in := runtime.Input{Pod: pod}
	all := compilePolicy(t, env, spec).ActualCost(0, in)
	spec.Rules[0].When = "variables.costly == 5"
	once := compilePolicy(t, env, spec).ActualCost(0, in)
	if once < 1000 || all < once || all > once+once/10 {
		t.Errorf("to ask three times costs %d, to ask once %d", all, once)
	}
}

// TestEvaluationsDoNotMix evaluates and explains one policy in several goroutines on different pods: no state of one evaluation
// may leak into the next.
func TestEvaluationsDoNotMix(t *testing.T) {
	env := newEnvironment(t)
	policies := map[string]*runtime.Policy{}
	for seed := range uint64(12) {
		spec := randomPolicy(rand.New(rand.NewPCG(seed, 1)))
		if policy, err := newPolicy(env, spec); err == nil {
			policies[describe(spec)] = policy
		}
	}
	if len(policies) < 6 {
		t.Fatalf("only %d policies", len(policies))
	}
	r := rand.New(rand.NewPCG(7, 7))
	inputs := make([]runtime.Input, 10)
	for i := range inputs {
		inputs[i] = runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(r.IntN(5)), Now: someTime}
	}
	for text, policy := range policies {
		want := make([]string, len(inputs))
		for i, in := range inputs {
			want[i] = everything(t, policy, in)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i, in := range inputs {
					if got := everything(t, policy, in); got != want[i] {
						t.Errorf("%s: got %s, want %s", text, got, want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}
