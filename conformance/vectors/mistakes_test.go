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

// mistakes returns what an implementer could get wrong.
func mistakes() []mistake {
	return slices.Concat(phaseMistakes(), actionMistakes(), orderMistakes(), selectorMistakes(), containerMistakes(),
		codeMistakes(), valueMistakes(), nameMistakes(), conditionMistakes(), statusMistakes(), verdictMistakes())
}

func phaseMistakes() []mistake {
	judge := func(f func(corev1.PodPhase) bool) func(*matcher) { return func(m *matcher) { m.judged = f } }
	return []mistake{
		{"every phase is judged", judge(func(corev1.PodPhase) bool { return true })},
		{"all but running pods are judged", judge(func(p corev1.PodPhase) bool { return p != corev1.PodRunning })},
		{"all but succeeded pods are judged", judge(func(p corev1.PodPhase) bool { return p != corev1.PodSucceeded })},
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
		{"FailIndex is an action in every version", know(func(a action, _ string) bool { return known(a, "") })},
		{"FailIndex is an action from 1.30 on", know(func(a action, k string) bool { return known(a, k) && (a != "FailIndex" || k != "1.29") })},
		{"FailIndex is no action", know(func(a action, _ string) bool { return known(a, "1.28") })},
		{"no action is known in 1.28", know(func(a action, k string) bool { return k != "1.28" && known(a, k) })},
		{"FailIndex ends the search in 1.28", func(m *matcher) { m.skips = func(a action) bool { return a != "FailIndex" } }},
		{"unknown actions are actions", know(func(a action, k string) bool { return a == "FailIndex" && known(a, k) || a != "FailIndex" })},
		{"an empty action is Count", know(func(a action, k string) bool { return known(a, k) || a == "" })},
		{"actions have no case", know(func(a action, k string) bool {
			return slices.ContainsFunc([]action{"FailJob", "Ignore", "Count"}, func(b action) bool { return strings.EqualFold(string(a), string(b)) }) || known(a, k)
		})},
		{"an unknown action ends the search", func(m *matcher) { m.skips = func(a action) bool { return a == "FailIndex" } }},
		{"Count is no action", know(func(a action, k string) bool { return a != "Count" && known(a, k) })},
		{"Ignore is no action", know(func(a action, k string) bool { return a != "Ignore" && known(a, k) })},
	}
}

// bySeverity tries the rules with the stronger actions first.
func bySeverity(actions ...action) func([]rule) []int {
	return func(rules []rule) []int {
		order := inOrder(rules)
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(slices.Index(actions, rules[i].Action), slices.Index(actions, rules[j].Action))
		})
		return order
	}
}

func orderMistakes() []mistake {
	order := func(f func([]rule) []int) func(*matcher) { return func(m *matcher) { m.rules = f } }
	return []mistake{
		{"the last rule wins", order(func(r []rule) []int { o := inOrder(r); slices.Reverse(o); return o })},
		{"only the first rule is tried", order(func(r []rule) []int { return inOrder(r)[:min(1, len(r))] })},
		{"the last rule is not tried", order(func(r []rule) []int { return inOrder(r)[:max(0, len(r)-1)] })},
		{"only ten rules are tried", order(func(r []rule) []int { return inOrder(r)[:min(10, len(r))] })},
		{"only 20 rules are tried", order(func(r []rule) []int { return inOrder(r)[:min(20, len(r))] })},
		{"FailJob first", order(bySeverity("FailJob", "FailIndex", "Ignore", "Count"))},
		{"Ignore first", order(bySeverity("Ignore", "FailJob", "FailIndex", "Count"))},
		{"Count last", order(bySeverity("FailIndex", "FailJob", "Ignore", "Count"))},
		{"condition rules first", order(func(r []rule) []int {
			o := inOrder(r)
			slices.SortStableFunc(o, func(i, j int) int { return cmp.Compare(len(r[j].OnPodConditions), len(r[i].OnPodConditions)) })
			return o
		})},
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
		{"conditions go before exit codes", sel(func(r rule) (bool, bool) { return r.OnPodConditions == nil, r.OnPodConditions != nil })},
		{"both selectors are none", sel(func(r rule) (bool, bool) {
			return r.OnExitCodes != nil && len(r.OnPodConditions) == 0, r.OnExitCodes == nil
		})},
		{"an empty list of patterns is a selector", sel(func(r rule) (bool, bool) {
			return r.OnExitCodes != nil && r.OnPodConditions == nil, r.OnExitCodes == nil
		})},
		{"rules on exit codes never match", sel(func(r rule) (bool, bool) { return false, r.OnExitCodes == nil })},
		{"rules on conditions never match", sel(func(r rule) (bool, bool) { return r.OnExitCodes != nil, false })},
	}
}

func containerMistakes() []mistake {
	scan := func(f func(s corev1.PodStatus) []status) func(*matcher) {
		return func(m *matcher) { m.containers = func(p *corev1.Pod) []status { return f(p.Status) } }
	}
	return []mistake{
		{"init containers are not looked at", scan(func(s corev1.PodStatus) []status { return s.ContainerStatuses })},
		{"app containers are not looked at", scan(func(s corev1.PodStatus) []status { return s.InitContainerStatuses })},
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
		{"the last container comes first", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.InitContainerStatuses, s.ContainerStatuses)
			slices.Reverse(list)
			return list
		})},
		{"init containers from the last", scan(func(s corev1.PodStatus) []status {
			list := slices.Clone(s.InitContainerStatuses)
			slices.Reverse(list)
			return slices.Concat(s.ContainerStatuses, list)
		})},
		{"containers by name", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			slices.SortStableFunc(list, func(a, b status) int { return cmp.Compare(a.Name, b.Name) })
			return list
		})},
		{"sidecars are not looked at", scan(func(s corev1.PodStatus) []status {
			return slices.DeleteFunc(slices.Concat(s.ContainerStatuses, s.InitContainerStatuses), func(c status) bool { return c.Started != nil })
		})},
		{"containers of one name are one", scan(func(s corev1.PodStatus) []status {
			return slices.CompactFunc(slices.Concat(s.ContainerStatuses, s.InitContainerStatuses), func(a, b status) bool { return a.Name == b.Name })
		})},
		{"init containers only when no app container failed", scan(func(s corev1.PodStatus) []status {
			if slices.ContainsFunc(s.ContainerStatuses, func(c status) bool { _, ok := terminated(c); return ok }) {
				return s.ContainerStatuses
			}
			return slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
		})},
		{"a container that has not terminated ends the search", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			if i := slices.IndexFunc(list, func(c status) bool { return c.State.Terminated == nil }); i >= 0 {
				return list[:i]
			}
			return list
		})},
		{"a container that succeeded ends the search", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			if i := slices.IndexFunc(list, func(c status) bool { return c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 }); i >= 0 {
				return list[:i]
			}
			return list
		})},
		{"the first failed container decides", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			if i := slices.IndexFunc(list, func(c status) bool { _, ok := terminated(c); return ok }); i >= 0 {
				return list[i : i+1]
			}
			return nil
		})},
		{"the first to finish comes first", scan(func(s corev1.PodStatus) []status {
			list := slices.Concat(s.ContainerStatuses, s.InitContainerStatuses)
			slices.SortStableFunc(list, func(a, b status) int { return finished(a).Compare(finished(b).Time) })
			return list
		})},
		{"the codes are added up", scan(sum)},
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
		{"ignored failures are counted", change(func(v *runtime.Verdict) { v.Counted = v.Terminal })},
		{"FailIndex is not counted", change(func(v *runtime.Verdict) { v.Counted = v.Counted && v.Action != "FailIndex" })},
		{"FailJob is not counted", change(func(v *runtime.Verdict) { v.Counted = v.Counted && v.Action != "FailJob" })},
		{"no match is not counted", change(func(v *runtime.Verdict) { v.Counted = v.Matched && v.Counted })},
		{"Count is no match", change(func(v *runtime.Verdict) {
			if v.Action == "Count" {
				*v = runtime.Verdict{Terminal: true, Counted: true, Action: "Count", Rule: runtime.NoRule}
			}
		})},
	}
}
