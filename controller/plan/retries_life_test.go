package plan

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func drawMend(t *rapid.T, rule customRule) customRule {
	if rapid.IntRange(0, 2).Draw(t, "unlimited") == 0 {
		rule = counting()
	}
	avoid := rapid.SampledFrom([]v1alpha1.AvoidNode{"", v1alpha1.AvoidPreferred, v1alpha1.AvoidRequired}).Draw(t, "avoidNode")
	if avoid != "" && rapid.Bool().Draw(t, "no memory") {
		return rule.giving(nil, avoid)
	}
	factor := rapid.SampledFrom([]string{"1.01", "1.5", "2"}).Draw(t, "factor")
	return rule.giving(more(factor, rapid.SampledFrom([]string{"500Mi", "8Gi"}).Draw(t, "max")), avoid)
}

// failedPod is a pod that failed while it was held.
type failedPod struct {
	*corev1.Pod

	slot, attempt int
}

// fails records a failed pod before it can be released.
func (m *ruleModel) fails(p *corev1.Pod, slot, attempt int) {
	if m != nil {
		m.ended = append(slices.DeleteFunc(m.ended, func(e failedPod) bool { return e.UID == p.UID }), failedPod{p, slot, attempt})
	}
}

// created compares a new pod with the matches before it.
func (m *ruleModel) created(w *world, p *corev1.Pod) {
	if m == nil || !m.mends {
		return
	}
	slot, attempt, _ := newNamer(w.job).parse(p.Name)
	var matches []failedPod
	for _, e := range m.ended {
		rule := m.customRules[exitCodeOf(e.Pod)]
		if e.slot != slot || e.attempt >= attempt || rule.mend == nil {
			continue
		}
		if usedUp, decided := m.usedUp[e.UID]; rule.budget.Limit > 0 && !decided {
			w.fail("%s is created before the decision on %s", p.Name, e.Name)
		} else if !usedUp {
			matches = append(matches, e)
		}
	}
	slices.SortFunc(matches, func(a, b failedPod) int { return cmp.Compare(b.attempt, a.attempt) })
	got, want := specText(&p.Spec), m.mended(&w.job.Spec.Template.Spec, matches)
	begins := w.scaled && newNamer(w.job).indexed && got == m.mended(&w.job.Spec.Template.Spec, nil) // an index that was done, and lost since
	if got != want && !begins {
		w.fail("%s is created with\n%s, want\n%s", p.Name, got, want)
	}
}

// mended returns the memory and nodes of a template's pod after matches, the last one first.
func (m *ruleModel) mended(template *corev1.PodSpec, matches []failedPod) string {
	var parts []string
	for i := range template.Containers {
		c := &template.Containers[i]
		parts = append(parts, c.Name+"="+m.sizeText(c.Resources.Requests, c.Name, matches)+"/"+m.sizeText(c.Resources.Limits, c.Name, matches))
	}
	var avoided []string
	for _, how := range []v1alpha1.AvoidNode{v1alpha1.AvoidRequired, v1alpha1.AvoidPreferred} {
		var nodes []string
		for _, code := range m.codes() {
			if rule := m.customRules[code].mend; rule == nil || rule.AvoidNode != how {
				continue
			}
			for _, match := range matches {
				if node := match.Spec.NodeName; exitCodeOf(match.Pod) == code && node != "" && !slices.Contains(avoided, node) {
					nodes, avoided = append(nodes, node), append(avoided, node)
				}
			}
		}
		if len(nodes) > 0 {
			parts = append(parts, map[v1alpha1.AvoidNode]string{"Required": "must", "Preferred": "100"}[how]+"[hostname NotIn "+strings.Join(nodes, ",")+"]")
		}
	}
	return strings.Join(parts, " ")
}

func (m *ruleModel) sizeText(list corev1.ResourceList, container string, matches []failedPod) string {
	base := memoryOf(list)
	if base == nil {
		return ""
	}
	size := *base
	for _, code := range m.codes() {
		rule, killed := m.customRules[code].mend, int32(0)
		for _, match := range matches {
			if exitCodeOf(match.Pod) == code && slices.ContainsFunc(match.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
				return c.Name == container && c.State.Terminated.Reason == "OOMKilled"
			}) {
				killed++
			}
		}
		if rule != nil && rule.Memory != nil && killed > 0 {
			want := wantMemory(base.String(), rule.Memory.Factor, rule.Memory.Max, killed)
			if want.Cmp(bytesOf(size.String())) > 0 {
				size.Set(want.Num().Int64())
			}
		}
	}
	return size.String()
}

// drawEnd draws the node on which a pod ended, and the containers that ran out of memory, if rules have retries.
func (l life) drawEnd(p *corev1.Pod, code int32) {
	if l.rules == nil || l.rules.customRules[code].mend == nil {
		return
	}
	p.Spec.NodeName = rapid.SampledFrom([]string{"", "n1", "n2", "n3"}).Draw(l.t, "node")
	if killed := rapid.SampledFrom([]string{"", "main", "main other"}).Draw(l.t, "killed"); killed != "" {
		podBuilder{p}.killed(strings.Fields(killed)...)
	}
}
