package generators

import (
	"encoding/json"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/compiler"
)

// census counts the outcomes for generated policies and pods. It has its own evaluation, which gives the reason, not only
// the verdict.
type census map[string]int

// pair counts a pod against a policy, and every rule that was tried.
func (c census) pair(p *batchv1.PodFailurePolicy, pod *corev1.Pod) {
	c["pair"]++
	switch {
	case pod.Status.Phase != corev1.PodFailed:
		c["pod: phase "+string(pod.Status.Phase)]++
		return
	case p == nil:
		c["policy: nil"]++
		return
	case len(p.Rules) == 0:
		c["policy: no rules"]++
	case len(p.Rules) > 20:
		c["policy: more than 20 rules"]++
	}
	for i := range p.Rules {
		if c.rule(&p.Rules[i], pod) {
			c["matched: "+string(p.Rules[i].Action)]++
			c["matched: any"]++
			if i >= 3 {
				c["matched: a late rule"]++
			}
			return
		}
	}
	c["unmatched"]++
}

func (c census) rule(r *batchv1.PodFailurePolicyRule, pod *corev1.Pod) bool {
	matched := false
	switch {
	case r.OnExitCodes != nil:
		if len(r.OnPodConditions) > 0 {
			c["rule: both selectors"]++
		}
		matched = c.exitCodes(r.OnExitCodes, pod)
	case len(r.OnPodConditions) > 0:
		matched = c.patterns(r.OnPodConditions, pod.Status.Conditions)
	case r.OnPodConditions != nil:
		c["rule: empty patterns"]++
	default:
		c["rule: no selector"]++
	}
	if matched && !slices.Contains(generatedActions[:], r.Action) {
		c["rule: unknown action, matched otherwise"]++
		return false
	}
	return matched
}

func (c census) exitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	matched := false
	lists := [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses}
	if len(lists[0])+len(lists[1]) == 0 {
		c["codes: no containers"]++
	}
	if len(pod.Status.EphemeralContainerStatuses) > 0 {
		c["codes: ephemeral containers"]++
	}
	for i, list := range lists {
		for _, s := range list {
			reason := containerReason(r, s)
			c["codes: "+reason]++
			if reason == "matched" && !matched {
				matched = true
				c["codes: matched in list "+string(rune('0'+i))]++
			}
		}
	}
	return matched
}

func containerReason(r *batchv1.PodFailurePolicyOnExitCodesRequirement, s corev1.ContainerStatus) string {
	listed := s.State.Terminated != nil && slices.Contains(r.Values, s.State.Terminated.ExitCode)
	switch {
	case s.State.Terminated == nil && s.LastTerminationState.Terminated != nil:
		return "only lastState terminated"
	case s.State.Terminated == nil && s.State.Running == nil && s.State.Waiting == nil:
		return "no state"
	case s.State.Terminated == nil:
		return "not terminated"
	case r.ContainerName != nil && *r.ContainerName != s.Name:
		return "other container"
	case s.State.Terminated.ExitCode == 0 && listed:
		return "exit code 0, listed under " + string(r.Operator)
	case s.State.Terminated.ExitCode == 0:
		return "exit code 0"
	case r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && !listed:
		return "not in the list"
	case r.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && listed:
		return "in the list of NotIn"
	case !slices.Contains(compiler.Operators, r.Operator):
		return "unknown operator"
	default:
		return "matched"
	}
}

func (c census) patterns(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, conditions []corev1.PodCondition) bool {
	reason := "conditions: none in the pod"
	for _, condition := range conditions {
		for _, p := range patterns {
			switch {
			case p.Type == condition.Type && p.Status == condition.Status:
				c["conditions: matched status "+string(p.Status)]++
				return true
			case p.Type == condition.Type:
				reason = "conditions: other status"
			case reason != "conditions: other status":
				reason = "conditions: other type"
			}
		}
	}
	c[reason]++
	return false
}

func takeCensus(hostile bool, policies, pods int) census {
	c := census{}
	g := NewPairs(1, hostile)
	for range policies {
		p := g.Policy()
		for range pods {
			c.pair(p, g.Pod())
		}
	}
	return c
}

// TestGeneratorReachesEverything tests that every action, and every way of not matching, occurs often enough.
func TestGeneratorReachesEverything(t *testing.T) {
	wellTyped := []string{
		"matched: FailJob", "matched: FailIndex", "matched: Ignore", "matched: Count", "matched: a late rule", "unmatched",
		"codes: matched in list 0", "codes: matched in list 1", "codes: not terminated", "codes: only lastState terminated",
		"codes: other container", "codes: exit code 0", "codes: exit code 0, listed under NotIn", "codes: not in the list",
		"codes: in the list of NotIn", "codes: no containers",
		"conditions: none in the pod", "conditions: other type", "conditions: other status",
		"conditions: matched status True", "conditions: matched status False", "conditions: matched status Unknown",
		"pod: phase Running", "pod: phase Succeeded", "policy: no rules",
	}
	onlyHostile := []string{
		"policy: nil", "policy: more than 20 rules", "rule: both selectors", "rule: empty patterns", "rule: no selector",
		"rule: unknown action, matched otherwise", "codes: unknown operator", "codes: no state",
		"codes: ephemeral containers", "codes: exit code 0, listed under In", "conditions: matched status ",
		"pod: phase ", "pod: phase failed",
	}
	tests := map[string]struct {
		hostile     bool
		want, never []string
	}{
		"well-typed": {hostile: false, want: wellTyped, never: onlyHostile},
		"hostile":    {hostile: true, want: slices.Concat(wellTyped, onlyHostile)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			policies := 4000
			if testing.Short() {
				policies = 1000
			}
			c := takeCensus(tt.hostile, policies, 25)
			for _, key := range tt.want {
				if share := float64(c[key]) / float64(c["pair"]); share < 0.0002 {
					t.Errorf("%q happened %d times in %d pairs, want 1 in 5000 at least", key, c[key], c["pair"])
				}
			}
			for _, key := range tt.never {
				if c[key] > 0 {
					t.Errorf("%q happened %d times, want never", key, c[key])
				}
			}
			rate := float64(c["matched: any"]) / float64(c["pair"])
			t.Logf("match rate %.2f, census %v", rate, c)
			if rate < 0.4 || rate > 0.8 {
				t.Errorf("match rate %.2f, want 0.40 to 0.80", rate)
			}
		})
	}
}

// TestDrawsAreReproducible tests that draws are a function of seed and kind.
func TestDrawsAreReproducible(t *testing.T) {
	for name, start := range map[string]func(seed uint64, hostile bool) func() []any{
		"pairs": func(seed uint64, hostile bool) func() []any {
			g := NewPairs(seed, hostile)
			return func() []any { return []any{g.Policy(), g.Pod().DeepCopy()} }
		},
		"jobs": func(seed uint64, hostile bool) func() []any {
			g := NewJobs(seed, hostile)
			return func() []any { return jobDraws(g) }
		},
	} {
		for _, hostile := range []bool{false, true} {
			if diff := cmp.Diff(drawn(t, start(7, hostile)), drawn(t, start(7, hostile))); diff != "" {
				t.Errorf("%s, hostile %t: one seed, two sequences: %s", name, hostile, diff)
			}
			if drawn(t, start(7, hostile)) == drawn(t, start(8, hostile)) {
				t.Errorf("%s, hostile %t: two seeds, one sequence", name, hostile)
			}
		}
		if drawn(t, start(7, true)) == drawn(t, start(7, false)) {
			t.Errorf("%s: hostile and well-typed draws are the same", name)
		}
	}
}

// drawn returns some draws as text. It checks that the caller owns the first one: later draws do not change it.
func drawn(t *testing.T, draw func() []any) string {
	t.Helper()
	text := func(value any) string {
		written, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(written)
	}
	first := draw()
	before, all := text(first), []any{}
	for range 100 {
		all = append(all, draw()...)
	}
	if diff := cmp.Diff(before, text(first)); diff != "" {
		t.Errorf("a draw has changed (-before +after):\n%s", diff)
	}
	return before + text(all)
}
