package vectors

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

type mistake struct {
	name string
	make func(*matcher)
}

// mistakes returns mistakes that an implementer could make. Only narrow mistakes are listed: vectors that detect them also detect wider
// ones.
func mistakes() []mistake {
	return slices.Concat(phaseMistakes(), actionMistakes(), orderMistakes(), selectorMistakes(), containerMistakes(),
		codeMistakes(), valueMistakes(), nameMistakes(), conditionMistakes(), statusMistakes(), verdictMistakes())
}

func phaseMistakes() []mistake {
	judge := func(f func(corev1.PodPhase) bool) func(*matcher) { return func(m *matcher) { m.judged = f } }
	return []mistake{
		{"every phase is judged", judge(func(corev1.PodPhase) bool { return true })},
		{"finished pods are judged", judge(func(p corev1.PodPhase) bool { return p == corev1.PodFailed || p == corev1.PodSucceeded || p == "" })},
		{"pods in an unknown phase are judged", judge(func(p corev1.PodPhase) bool { return p == corev1.PodFailed || p == corev1.PodUnknown || p == "" })},
		{"a pod without a phase is not judged", judge(func(p corev1.PodPhase) bool { return p == corev1.PodFailed })},
		{"phases have no case", judge(func(p corev1.PodPhase) bool { return strings.EqualFold(string(p), "failed") || p == "" })},
	}
}

func actionMistakes() []mistake {
	know := func(f func(action, string) bool) func(*matcher) { return func(m *matcher) { m.known = f } }
	known := correct().known
	return []mistake{
		{"FailIndex is an action from 1.30 on", know(func(a action, k string) bool { return known(a, k) && (a != "FailIndex" || k != "1.29") })},
		{"FailIndex ends the search in 1.28", func(m *matcher) { m.skips = func(a action) bool { return a != "FailIndex" } }},
		{"an empty action is Count", know(func(a action, k string) bool { return known(a, k) || a == "" })},
		{"actions have no case", know(func(a action, k string) bool {
			return slices.ContainsFunc([]action{"FailJob", "Ignore", "Count"}, func(b action) bool { return strings.EqualFold(string(a), string(b)) }) || known(a, k)
		})},
		{"an unknown action ends the search", func(m *matcher) { m.skips = func(a action) bool { return a == "FailIndex" } }},
	}
}

func orderMistakes() []mistake {
	order := func(f func([]rule) []int) func(*matcher) { return func(m *matcher) { m.rules = f } }
	return []mistake{
		{"the last rule is not tried", order(func(r []rule) []int { return inOrder(r)[:max(0, len(r)-1)] })},
		{"only 20 rules are tried", order(func(r []rule) []int { return inOrder(r)[:min(20, len(r))] })},
		{"exit-code rules first", order(func(r []rule) []int {
			o := inOrder(r)
			slices.SortStableFunc(o, func(i, j int) int { return cmp.Compare(len(r[i].OnPodConditions), len(r[j].OnPodConditions)) })
			return o
		})},
		{"narrow rules first", order(func(r []rule) []int {
			o := inOrder(r)
			slices.SortStableFunc(o, func(i, j int) int { return cmp.Compare(width(r[i]), width(r[j])) })
			return o
		})},
	}
}

func width(r rule) int {
	if r.OnExitCodes == nil {
		return len(r.OnPodConditions)
	}
	return len(r.OnExitCodes.Values)
}

func selectorMistakes() []mistake {
	sel := func(f func(rule) (bool, bool)) func(*matcher) { return func(m *matcher) { m.selectors = f } }
	return []mistake{
		{"either selector will do", sel(func(rule) (bool, bool) { return true, true })},
		{"both selectors are none", sel(func(r rule) (bool, bool) {
			return r.OnExitCodes != nil && len(r.OnPodConditions) == 0, r.OnExitCodes == nil
		})},
		{"rules on exit codes never match", sel(func(r rule) (bool, bool) { return false, r.OnExitCodes == nil })},
	}
}

func containerMistakes() []mistake {
	scan := func(f func(s corev1.PodStatus) []status) func(*matcher) {
		return func(m *matcher) { m.containers = func(p *corev1.Pod) []status { return f(p.Status) } }
	}
	return []mistake{
		{"init containers come first", scan(func(s corev1.PodStatus) []status { return slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) })},
		{"ephemeral containers are looked at", scan(func(s corev1.PodStatus) []status {
			return slices.Concat(s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses)
		})},
		{"only the first container is looked at", scan(func(s corev1.PodStatus) []status {
			return slices.Concat(s.ContainerStatuses[:min(1, len(s.ContainerStatuses))], s.InitContainerStatuses)
		})},
		{"only the first init container is looked at", scan(func(s corev1.PodStatus) []status {
			return slices.Concat(s.ContainerStatuses, s.InitContainerStatuses[:min(1, len(s.InitContainerStatuses))])
		})},
		{"init containers from the last", scan(func(s corev1.PodStatus) []status {
			list := slices.Clone(s.InitContainerStatuses)
			slices.Reverse(list)
			return slices.Concat(s.ContainerStatuses, list)
		})},
		{"sidecars are not looked at", scan(func(s corev1.PodStatus) []status {
			return slices.DeleteFunc(slices.Concat(s.ContainerStatuses, s.InitContainerStatuses), func(c status) bool { return c.Started != nil })
		})},
		{"containers of one name are one", scan(func(s corev1.PodStatus) []status {
			return slices.CompactFunc(slices.Concat(s.ContainerStatuses, s.InitContainerStatuses), func(a, b status) bool { return a.Name == b.Name })
		})},
		{"a container that has not terminated ends the search", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			if i := slices.IndexFunc(list, func(c status) bool { return c.State.Terminated == nil }); i >= 0 {
				return list[:i]
			}
			return list
		})},
		{"the first to finish comes first", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			slices.SortStableFunc(list, func(a, b status) int { return finished(a).Compare(finished(b).Time) })
			return list
		})},
	}
}

func operators(f func(op batchv1.PodFailurePolicyOnExitCodesOperator, listed bool) bool) func(*matcher) {
	return func(m *matcher) { m.operator = f }
}

func verdictMistakes() []mistake {
	change := func(f func(*runtime.Verdict)) func(*matcher) {
		return func(m *matcher) { m.verdict = func(v runtime.Verdict) runtime.Verdict { f(&v); return v } }
	}
	return []mistake{
		{"no match is not counted", change(func(v *runtime.Verdict) { v.Counted = v.Matched && v.Counted })},
	}
}
