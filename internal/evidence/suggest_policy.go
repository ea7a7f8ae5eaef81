package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// suggestedName is the name of a suggested custom policy.
const suggestedName = "suggested"

// Batches groups the rules that are merged into one rule of the policy.
func (s *Suggestion) Batches() [][]SuggestedRule { return s.batches(true) }

// batches groups the rules; if merge is true, exit codes with the same action form one group.
func (s *Suggestion) batches(merge bool) (all [][]SuggestedRule) {
	for _, r := range s.Rules {
		if n := len(all) - 1; merge && n >= 0 && r.About == OnCode && all[n][0].About == r.About &&
			all[n][0].Action == r.Action && all[n][0].Container == r.Container {
			all[n] = append(all[n], r)
			continue
		}
		all = append(all, []SuggestedRule{r})
	}
	return all
}

// write creates the policy from the rules. A custom policy comes after a Job's own rules, and only reports.
func (s *Suggestion) write(merge bool) error {
	var rules strings.Builder
	rules.WriteString("rules:\n")
	for i, batch := range s.batches(merge) {
		rules.WriteString(s.YAML(batch, i))
	}
	if !s.custom {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		err := yaml.Unmarshal([]byte(rules.String()), s.PodFailurePolicy)
		s.PodFailurePolicy.Rules = append(slices.Clip(s.own), s.PodFailurePolicy.Rules...)
		return err
	}
	s.Policy, s.Binding = &v1alpha1.PodFailurePolicy{}, &v1alpha1.PodFailurePolicyBinding{}
	s.Policy.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicy))
	s.Binding.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicyBinding))
	s.Policy.Name, s.Binding.Name = suggestedName, suggestedName
	s.Binding.Spec = v1alpha1.PodFailurePolicyBindingSpec{PolicyName: suggestedName, Position: v1alpha1.PositionAfter, Mode: v1alpha1.ModeAudit}
	return yaml.Unmarshal([]byte(rules.String()), &s.Policy.Spec)
}

// YAML returns one of Batches as an item of a YAML list; index is its index.
func (s *Suggestion) YAML(batch []SuggestedRule, index int) string {
	r := batch[0]
	codes := make([]string, len(batch))
	for i := range batch {
		codes[i] = strconv.Itoa(int(batch[i].Code))
	}
	values := "[" + strings.Join(codes, ", ") + "]"
	if s.custom {
		return fmt.Sprintf("- name: %s-%d\n  action: %s\n%s", r.About, index, r.Action, r.when(values))
	}
	on := `onPodConditions: [{type: DisruptionTarget, status: "True"}]`
	if r.About == OnCode {
		container := ""
		if r.Container != "" {
			container = fmt.Sprintf("containerName: %q, ", r.Container)
		}
		on = fmt.Sprintf("onExitCodes: {%soperator: In, values: %s}", container, values)
	}
	return fmt.Sprintf("- action: %s\n  %s\n", r.Action, on)
}

// when returns the other fields of a rule of a custom policy.
func (r *SuggestedRule) when(codes string) string {
	switch r.About {
	case OnDisruption:
		return "  when: pod.hasCondition('DisruptionTarget')\n"
	case OnMemory:
		most := resource.NewQuantity(max(r.Memory, 1), resource.BinarySI) // unknown before the trial
		return fmt.Sprintf("  when: pod.failedContainers().exists(c, c.oomKilled)\n  retry: {memory: {factor: \"2\", max: %q}}\n", most.String())
	case OnNode:
		return fmt.Sprintf("  when: pod.spec.?nodeName.orValue('') == %q\n  retry: {avoidNode: Preferred}\n", r.Node)
	}
	not := map[bool]string{false: "!"}[r.perIndex]
	return fmt.Sprintf("  when: |-\n    %shas(job.spec.backoffLimitPerIndex) &&\n    pod.failedContainers().exists(c, c.exitCode in %s)\n", not, codes)
}

// ruleOf returns the index of the rule that decided in a trial, or a negative number.
func (s *Suggestion) ruleOf(v runtime.Verdict) int {
	if !v.Matched || v.Policy != map[bool]string{true: suggestedName}[s.custom] {
		return -1
	}
	return v.Rule - s.Own
}
