package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/compiler/cel"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
)

// retryMatch is a Pod that a rule with a retry has matched.
type retryMatch struct{ rule, text string }

// addMatches adds to what is said of each Pod's next attempt which Pods have led to it.
func (j *judged) addMatches() {
	p, items := j.plan, j.items
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(p.snapshot.Pods[i].Attempt - p.snapshot.Pods[j].Attempt) })
	matches := map[string][]retryMatch{}
	for _, i := range order {
		line := p.line(items[i].object)
		if v := &items[i].decided; v.Retry != nil {
			matches[line] = append(matches[line], retryMatch{v.Policy + "/" + v.RuleName, p.match(i)})
		}
		if items[i].Retry != nil {
			items[i].Retry.matches = matches[line]
		}
	}
}

// line names the attempts that replace each other: those at an index, or all of a Job that runs one Pod at a time.
func (p *plan) line(pod *corev1.Pod) string {
	switch spec := &p.stored.Spec; {
	case *spec.CompletionMode == batchv1.IndexedCompletion:
		return pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	case ptr.Deref(spec.Parallelism, 1) == 1 || ptr.Deref(spec.Completions, 0) == 1:
		return ""
	}
	return pod.Name
}

// match says which attempt the Pod at an index was: "attempt 2, train-3-x7k2p, on worker-1, main had 9Gi".
func (p *plan) match(i int) string {
	pod := &p.snapshot.Pods[i]
	parts := []string{fmt.Sprintf("attempt %d", pod.Attempt), pod.Object.Name}
	if node := pod.Object.Spec.NodeName; node != "" {
		parts = append(parts, "on "+node)
	}
	for _, name := range cel.OOMKilled(pod.Object) {
		if has := controllerplan.Memory(&pod.Object.Spec, name); has.IsZero() {
			parts = append(parts, name+" had none of its own")
		} else {
			parts = append(parts, name+" had "+has.String())
		}
	}
	return strings.Join(parts, ", ")
}

// nextAttemptLines says what the next attempt gets by which rule, what these rules say, and which Pods they have matched.
func (i verdictItem) nextAttemptLines() []string {
	r := i.Retry
	switch {
	case r == nil && i.Verdict.Retry != nil:
		return []string{"the same: no container ran out of memory, and no node is to be avoided"}
	case r == nil || r.over():
		return nil
	}
	lines := r.parts(controllerplan.Mended.String)
	if !r.Managed {
		lines = append(lines, "if podverdict ran the Job (spec.managedBy)")
	}
	for _, rule := range slices.Sorted(maps.Keys(r.retries)) {
		asks := r.retries[rule]
		lines = append(lines, rule+": "+strings.TrimPrefix(print.RetryText("", &asks.Retry), "retry "))
		more := len(asks.Nodes)
		for _, matches := range asks.OOMKilled {
			more = max(more, int(matches))
		}
		for _, match := range r.matches {
			if match.rule == rule {
				lines = append(lines, "  "+match.text)
				more--
			}
		}
		if more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more, whose Pods are gone or not in the input", more))
		}
	}
	return lines
}
