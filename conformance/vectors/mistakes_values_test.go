package vectors

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func finished(c status) metav1.Time {
	if c.State.Terminated == nil {
		return metav1.Time{}
	}
	return c.State.Terminated.FinishedAt
}

func codeMistakes() []mistake {
	code := func(f func(status) (int32, bool)) func(*matcher) { return func(m *matcher) { m.code = f } }
	return []mistake{
		{"exit code 0 is a failure", code(func(c status) (int32, bool) {
			if c.State.Terminated == nil {
				return 0, false
			}
			return c.State.Terminated.ExitCode, true
		})},
		{"codes have no sign", code(func(c status) (int32, bool) { n, ok := terminated(c); return max(n, -n), ok })},
		{"negative codes are no failures", code(func(c status) (int32, bool) { n, ok := terminated(c); return n, ok && n > 0 })},
		{"the state before counts when there is none", code(func(c status) (int32, bool) {
			if c.State.Terminated == nil {
				c.State = c.LastTerminationState
			}
			return terminated(c)
		})},
		{"a running container has failed", code(func(c status) (int32, bool) {
			if c.State.Running != nil {
				return 137, true
			}
			return terminated(c)
		})},
		{"a waiting container is not looked at, terminated or not", code(func(c status) (int32, bool) {
			n, ok := terminated(c)
			return n, ok && c.State.Waiting == nil
		})},
		{"the signal is the code", code(func(c status) (int32, bool) {
			if c.State.Terminated != nil && c.State.Terminated.Signal != 0 {
				return c.State.Terminated.Signal, true
			}
			return terminated(c)
		})},
	}
}

func valueMistakes() []mistake {
	listed := func(f func([]int32, int32) bool) func(*matcher) { return func(m *matcher) { m.listed = f } }
	return []mistake{
		{"values are a range", listed(func(v []int32, c int32) bool { return len(v) > 0 && slices.Min(v) <= c && c <= slices.Max(v) })},
		{"values are searched as if ordered", listed(func(v []int32, c int32) bool { _, ok := slices.BinarySearch(v, c); return ok })},
		{"only 255 values are looked at", listed(func(v []int32, c int32) bool { return slices.Contains(v[:min(255, len(v))], c) })},
		{"values have eight bits", listed(func(v []int32, c int32) bool {
			return slices.ContainsFunc(v, func(v int32) bool { return v&0xff == c&0xff })
		})},
		{"values that repeat cancel out", listed(func(v []int32, c int32) bool {
			n := 0
			for _, v := range v {
				if v == c {
					n++
				}
			}
			return n == 1
		})},
		{"an empty list is everything", listed(func(v []int32, c int32) bool { return len(v) == 0 || slices.Contains(v, c) })},
		{"In is the default operator", operators(func(op batchv1.PodFailurePolicyOnExitCodesOperator, listed bool) bool {
			return operate(op, listed) || op == "" && listed
		})},
		{"operators have no case", operators(func(op batchv1.PodFailurePolicyOnExitCodesOperator, listed bool) bool {
			return strings.EqualFold(string(op), "In") && listed || strings.EqualFold(string(op), "NotIn") && !listed
		})},
	}
}

func nameMistakes() []mistake {
	named := func(f func(want *string, got string) bool) func(*matcher) { return func(m *matcher) { m.named = f } }
	return []mistake{
		{"an empty containerName is none", named(func(w *string, g string) bool { return w == nil || *w == "" || *w == g })},
		{"an empty containerName never matches", named(func(w *string, g string) bool { return w == nil || *w == g && g != "" })},
		{"container names have no case", named(func(w *string, g string) bool { return w == nil || strings.EqualFold(*w, g) })},
		{"a containerName that begins with the name is enough", named(func(w *string, g string) bool { return w == nil || strings.HasPrefix(*w, g) })},
	}
}

func conditionMistakes() []mistake {
	find := func(f func([]corev1.PodCondition, []pattern) int) func(*matcher) {
		return func(m *matcher) { m.condition = f }
	}
	equal := func(f func(corev1.PodCondition, pattern) bool) func(*matcher) { return find(firstCondition(f)) }
	right := correct().condition
	return []mistake{
		{"condition types have no case", equal(func(c corev1.PodCondition, p pattern) bool {
			return strings.EqualFold(string(c.Type), string(p.Type)) && c.Status == p.Status
		})},
		{"domains are cut off", equal(func(c corev1.PodCondition, p pattern) bool {
			_, name, ok := strings.Cut(string(c.Type), "/")
			return c.Status == p.Status && (c.Type == p.Type || ok && name == string(p.Type))
		})},
		{"types with a domain are none", equal(func(c corev1.PodCondition, p pattern) bool {
			return c.Type == p.Type && c.Status == p.Status && !strings.Contains(string(c.Type), "/")
		})},
		{"the reason is a type", equal(func(c corev1.PodCondition, p pattern) bool {
			return c.Status == p.Status && (c.Type == p.Type || c.Reason == string(p.Type))
		})},
		{"only the reasons of the KEP are disruptions", equal(func(c corev1.PodCondition, p pattern) bool {
			return c.Type == p.Type && c.Status == p.Status && (c.Reason == "" || strings.Contains(c.Reason, "By"))
		})},
		{"only the reasons of the code are disruptions", equal(func(c corev1.PodCondition, p pattern) bool {
			return c.Type == p.Type && c.Status == p.Status && c.Reason != "PreemptionByKubeScheduler"
		})},
		{"only the reasons of the KEP's text are disruptions", equal(func(c corev1.PodCondition, p pattern) bool {
			return c.Type == p.Type && c.Status == p.Status && c.Reason != "PreemptionByScheduler"
		})},
		{"the type of one pattern, the status of another", find(func(cs []corev1.PodCondition, ps []pattern) int {
			return slices.IndexFunc(cs, func(c corev1.PodCondition) bool {
				return slices.ContainsFunc(ps, func(p pattern) bool { return p.Type == c.Type }) &&
					slices.ContainsFunc(ps, func(p pattern) bool { return p.Status == c.Status })
			})
		})},
		{"the order of the patterns names the condition", find(func(cs []corev1.PodCondition, ps []pattern) int {
			for _, p := range ps {
				if n := right(cs, []pattern{p}); n >= 0 {
					return n
				}
			}
			return -1
		})},
		{"only 20 patterns are looked at", find(func(cs []corev1.PodCondition, ps []pattern) int { return right(cs, ps[:min(20, len(ps))]) })},
		{"the first condition of a type counts", find(func(cs []corev1.PodCondition, ps []pattern) int { return right(firsts(cs), ps) })},
		{"the last condition of a type counts", find(func(cs []corev1.PodCondition, ps []pattern) int {
			for i, c := range cs {
				if slices.ContainsFunc(cs[i+1:], func(d corev1.PodCondition) bool { return d.Type == c.Type }) {
					continue
				}
				if right(cs[i:i+1], ps) == 0 {
					return i
				}
			}
			return -1
		})},
		{"no patterns are all", find(func(cs []corev1.PodCondition, ps []pattern) int {
			if ps != nil && len(ps) == 0 && len(cs) > 0 {
				return 0
			}
			return right(cs, ps)
		})},
	}
}

// firsts returns the conditions up to the first repeated type.
func firsts(cs []corev1.PodCondition) []corev1.PodCondition {
	for i, c := range cs {
		if slices.ContainsFunc(cs[:i], func(d corev1.PodCondition) bool { return d.Type == c.Type }) {
			return cs[:i]
		}
	}
	return cs
}

func statusMistakes() []mistake {
	status := func(f func(c, p corev1.ConditionStatus) bool) func(*matcher) {
		return func(m *matcher) {
			m.condition = firstCondition(func(c corev1.PodCondition, p pattern) bool { return c.Type == p.Type && f(c.Status, p.Status) })
		}
	}
	type s = corev1.ConditionStatus
	absent := func(want s) func(*matcher) {
		return func(m *matcher) {
			right := m.condition
			m.condition = func(cs []corev1.PodCondition, ps []pattern) int {
				for _, p := range ps {
					if p.Status == want && !slices.ContainsFunc(cs, func(c corev1.PodCondition) bool { return c.Type == p.Type }) {
						return max(0, right(cs, ps))
					}
				}
				return right(cs, ps)
			}
		}
	}
	return []mistake{
		{"Unknown is as good as False", status(func(c, p s) bool { return c == p || c == "False" && p == "Unknown" })},
		{"Unknown is as good as True", status(func(c, p s) bool { return c == p || c == "Unknown" && p == "True" })},
		{"statuses have no case", status(func(c, p s) bool { return strings.EqualFold(string(c), string(p)) })},
		{"a pattern without a status is for True", status(func(c, p s) bool { return c == p || p == "" && c == "True" })},
		{"a pattern without a status is none", status(func(c, p s) bool { return c == p && p != "" })},
		{"unknown statuses are none", status(func(c, p s) bool { return c == p && (c == "" || slices.Contains([]s{"True", "False", "Unknown"}, c)) })},
		{"an absent condition is False", absent("False")},
		{"an absent condition is Unknown", absent("Unknown")},
	}
}
