package snapshot

import (
	"context"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// Outlook returns how close the Job is to its limits and what happens next, considering only the Pods at the given indexes, or all Pods
// if there are none.
func (s *Snapshot) Outlook(ctx context.Context, only ...int) plan.Outlook {
	s.Decisions(ctx)
	o := s.Observation(ctx) // package plan counts the budgets
	o.Volatile = s.Rules.Effect.Enforced && !s.Rules.Selection.Empty()
	if len(only) > 0 {
		o.Pods = nil
		for _, i := range only {
			o.Pods = append(o.Pods, s.Pods[i].Object)
		}
	}
	if s.Rules.None() {
		o.Judge = nil
	}
	return plan.Look(o)
}

// NextAttempt holds the changes to the attempt after a Pod, requested by rules that matched at its index. Retries is empty without such
// rules.
type NextAttempt struct {
	plan.Retries

	// Decided is the verdict that would apply if podverdict ran the Job. Last reports whether the Job or its index fails with the Pod.
	Decided runtime.Verdict
	Last    bool
}

// NextAttempts returns the changes to the attempts after each Pod, in the order of the Pods; nil if no rule in effect requests any.
func (s *Snapshot) NextAttempts(ctx context.Context) []NextAttempt {
	carried := func(p Pod) bool { return p.Object.Annotations[plan.RetryAnnotation] != "" }
	if s.Job == nil || s.Rules.Selection.Empty() && !slices.ContainsFunc(s.Pods, carried) {
		return nil
	}
	decided := s.decidedAsManaged(ctx)
	o := plan.Observation{Job: s.Job, Now: s.Now}
	byName, scenarios := map[string]runtime.Verdict{}, map[string]plan.Retries{}
	for i := range s.Pods {
		switch p := &s.Pods[i]; {
		case !p.First:
			o.Pods = append(o.Pods, p.Object)
			byName[p.Object.Name] = decided[i]
		case decided[i].Retry != nil:
			scenarios[p.Object.Name] = plan.Retries(nil).After(decided[i], p.Object)
		}
	}
	o.Judge = func(pod *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict { return byName[pod.Name] }
	after := plan.RetriesAfter(o)
	maps.Copy(after, scenarios)
	next := make([]NextAttempt, len(s.Pods))
	for i := range s.Pods {
		next[i] = NextAttempt{after[s.Pods[i].Object.Name], decided[i], s.isLast(i, decided[i])}
	}
	return next
}

// decidedAsManaged returns the verdicts on the Pods that would apply if podverdict ran the Job.
func (s *Snapshot) decidedAsManaged(ctx context.Context) []runtime.Verdict {
	managed := s.Rules.Managed()
	verdicts := make([]runtime.Verdict, len(s.Pods))
	for i, d := range s.Decisions(ctx) {
		if verdicts[i] = d.Verdict; !s.Rules.Effect.Enforced {
			verdicts[i] = managed.Judge(ctx, s.Input(i))
		}
	}
	return verdicts
}

// isLast reports whether no attempt follows a Pod, because the Job or its index fails with it.
func (s *Snapshot) isLast(i int, decided runtime.Verdict) bool {
	limit := s.Job.Spec.BackoffLimitPerIndex
	before, _ := strconv.Atoi(s.Pods[i].Object.Annotations[batchv1.JobIndexFailureCountAnnotation])
	return decided.Action == batchv1.PodFailurePolicyActionFailJob ||
		limit != nil && (decided.Action == batchv1.PodFailurePolicyActionFailIndex || decided.Counted && before >= int(*limit))
}
