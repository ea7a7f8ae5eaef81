package vectors

import (
	"context"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// matcher is an engine in parts, so that each part can be made wrong separately.
type matcher struct {
	judged     func(corev1.PodPhase) bool
	known      func(batchv1.PodFailurePolicyAction, string) bool
	rules      func([]batchv1.PodFailurePolicyRule) []int // the order in which they are tried
	selectors  func(batchv1.PodFailurePolicyRule) (codes, conditions bool)
	containers func(*corev1.Pod) []corev1.ContainerStatus
	code       func(corev1.ContainerStatus) (int32, bool)
	named      func(want *string, got string) bool
	operator   func(op batchv1.PodFailurePolicyOnExitCodesOperator, listed bool) bool
	listed     func([]int32, int32) bool
	condition  func([]corev1.PodCondition, []batchv1.PodFailurePolicyOnPodConditionsPattern) int
	skips      func(action) bool // an unknown action skips the rule instead of ending the search
	verdict    func(runtime.Verdict) runtime.Verdict
}

type (
	rule    = batchv1.PodFailurePolicyRule
	action  = batchv1.PodFailurePolicyAction
	pattern = batchv1.PodFailurePolicyOnPodConditionsPattern
	status  = corev1.ContainerStatus
)

func correct() matcher {
	return matcher{
		judged: func(p corev1.PodPhase) bool { return p == corev1.PodFailed || p == "" },
		known: func(a action, kubernetes string) bool {
			return a == "FailJob" || a == "Ignore" || a == "Count" || a == "FailIndex" && kubernetes != "1.28"
		},
		rules:     inOrder,
		selectors: func(r rule) (bool, bool) { return r.OnExitCodes != nil, r.OnExitCodes == nil },
		containers: func(p *corev1.Pod) []status {
			return append(slices.Clone(p.Status.ContainerStatuses), p.Status.InitContainerStatuses...)
		},
		code:      terminated,
		named:     func(want *string, got string) bool { return want == nil || *want == got },
		operator:  operate,
		listed:    slices.Contains[[]int32],
		condition: firstCondition(func(c corev1.PodCondition, p pattern) bool { return c.Type == p.Type && c.Status == p.Status }),
		skips:     func(action) bool { return true },
		verdict:   func(v runtime.Verdict) runtime.Verdict { return v },
	}
}

func inOrder(rules []rule) []int {
	order := make([]int, len(rules))
	for i := range rules {
		order[i] = i
	}
	return order
}

func terminated(c status) (int32, bool) {
	if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 {
		return 0, false
	}
	return c.State.Terminated.ExitCode, true
}

func operate(op batchv1.PodFailurePolicyOnExitCodesOperator, listed bool) bool {
	return op == "In" && listed || op == "NotIn" && !listed
}

func firstCondition(equal func(corev1.PodCondition, pattern) bool) func([]corev1.PodCondition, []pattern) int {
	return func(conditions []corev1.PodCondition, patterns []pattern) int {
		return slices.IndexFunc(conditions, func(c corev1.PodCondition) bool {
			return slices.ContainsFunc(patterns, func(p pattern) bool { return equal(c, p) })
		})
	}
}

func (m matcher) engine(_ context.Context, r conformance.Request) (runtime.Verdict, error) {
	if !m.judged(r.Pod.Status.Phase) {
		return m.verdict(runtime.NotTerminal(r.Pod)), nil
	}
	var list []rule
	if r.Policy != nil {
		list = r.Policy.Rules
	}
	for _, i := range m.rules(list) {
		known := m.known(list[i].Action, r.Kubernetes)
		v, ok := m.match(r.Pod, i, list[i])
		switch {
		case ok && known:
			return m.verdict(v), nil
		case ok && !m.skips(list[i].Action):
			return m.verdict(runtime.Unmatched(r.Pod)), nil
		}
	}
	return m.verdict(runtime.Unmatched(r.Pod)), nil
}

func (m matcher) match(pod *corev1.Pod, i int, r rule) (runtime.Verdict, bool) {
	codes, conditions := m.selectors(r)
	if codes && r.OnExitCodes != nil {
		for _, c := range m.containers(pod) {
			code, ok := m.code(c)
			if ok && m.named(r.OnExitCodes.ContainerName, c.Name) && m.operator(r.OnExitCodes.Operator, m.listed(r.OnExitCodes.Values, code)) {
				c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
				return runtime.MatchedExitCode(pod, i, r.Action, &c), true
			}
		}
	}
	if conditions {
		if n := m.condition(pod.Status.Conditions, r.OnPodConditions); n >= 0 {
			return runtime.MatchedCondition(pod, i, r.Action, &pod.Status.Conditions[n]), true
		}
	}
	return runtime.Verdict{}, false
}

func TestTheCorrectMatcherPasses(t *testing.T) {
	report, err := Run(t.Context(), correct().engine, vectors(t), Options{})
	if err != nil || !report.OK() {
		var b strings.Builder
		_ = report.WriteTable(&b)
		t.Fatalf("%v\n%s", err, &b)
	}
}

// TestEveryMistakeIsCaught makes one mistake at a time, and checks that some vector detects it.
func TestEveryMistakeIsCaught(t *testing.T) {
	all := vectors(t)
	noticed := map[string]bool{}
	for _, mistake := range mistakes() {
		t.Run(mistake.name, func(t *testing.T) {
			m := correct()
			mistake.make(&m)
			report, err := Run(t.Context(), m.engine, all, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report.OK() {
				t.Error("no vector notices")
			}
			for _, r := range report.Results {
				if !r.Outcome.OK() {
					noticed[r.Name] = true
				}
			}
		})
	}
	for _, v := range all {
		if !noticed[v.Name] {
			t.Errorf("%s: no mistake is known that it catches", v.Name)
		}
	}
}
