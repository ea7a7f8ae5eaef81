package verdicts

import (
	"context"
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

// retryItem describes the changes to the attempt after a failed Pod, made by rules that matched at its index.
type retryItem struct {
	// Managed is false if podverdict does not run the Job, so the changes are hypothetical.
	Managed bool                    `json:"managed"`
	Changes []controllerplan.Mended `json:"changes"`

	retries controllerplan.Retries
	matches []retryMatch // Pods that led to the changes, first attempt first; set only by explain
	plan    *Plan
	last    bool // the Job or its index fails with the Pod
}

// addRetries adds the changes to the attempt after each failed Pod.
func (p *Plan) addRetries(ctx context.Context, items []Item) {
	for i, next := range p.Snapshot.NextAttempts(ctx) {
		items[i].decided = next.Decided
		if len(next.Retries) == 0 {
			continue
		}
		r := &retryItem{Managed: p.Rules.Effect.Enforced, retries: next.Retries, plan: p, last: next.Last}
		_, changes := next.Mend(&p.Stored.Spec.Template.Spec)
		r.Changes = append([]controllerplan.Mended{}, changes...)
		items[i].Retry = r
	}
}

// over reports whether no attempt follows, because this one is the last or the Job ends.
func (r *retryItem) over() bool {
	next := r.plan.next
	return r.last || next != nil && next.Does != controllerplan.Creates && next.Does != controllerplan.Waits && next.Does != controllerplan.Suspended
}

// nextAttempt describes the changes to the next attempt: "next attempt: memory of main 512Mi -> 768Mi; avoids node-3". It returns "" if
// there are none.
func (i Item) nextAttempt() string {
	switch r := i.Retry; {
	case r == nil || r.over():
		return ""
	case r.Managed:
		return "next attempt: " + strings.Join(r.parts(brieflyMended), "; ")
	default:
		return "next attempt would get: " + strings.Join(r.parts(brieflyMended), "; ") + ", if podverdict ran the Job (spec.managedBy)"
	}
}

// brieflyMended returns a change without its reason: "memory of main 512Mi -> 768Mi".
func brieflyMended(m controllerplan.Mended) string {
	text, _, _ := strings.Cut(m.String(), " (")
	return strings.Replace(strings.Replace(text, ": limit", "", 1), ":", "", 1)
}

// parts describes the changes to the next attempt, and the containers that ran out of memory but get no more.
func (r *retryItem) parts(text func(controllerplan.Mended) string) (all []string) {
	killed := map[string]bool{}
	for _, retried := range r.retries {
		for name := range retried.OOMKilled {
			killed[name] = true
		}
	}
	for _, change := range r.Changes {
		all = append(all, text(change))
		delete(killed, change.Container)
	}
	for _, name := range slices.Sorted(maps.Keys(killed)) {
		if has := controllerplan.Memory(&r.plan.Stored.Spec.Template.Spec, name); !has.IsZero() {
			all = append(all, fmt.Sprintf("memory of %s stays %s, which is not below max", name, has.String()))
		} else {
			all = append(all, name+" has no memory of its own that could grow")
		}
	}
	return all
}

// retryMatch is a Pod that a rule with a retry matched.
type retryMatch struct{ rule, text string }

// AddMatches records, for each Pod's next attempt, the earlier Pods whose rules changed it.
func (j *Judged) AddMatches() {
	p, items := j.Plan, j.Items
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(p.Snapshot.Pods[i].Attempt - p.Snapshot.Pods[j].Attempt) })
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

// line returns a key shared by attempts that replace each other: the Pods at one index, or all Pods of a Job that runs one Pod at a time.
func (p *Plan) line(pod *corev1.Pod) string {
	switch spec := &p.Stored.Spec; {
	case *spec.CompletionMode == batchv1.IndexedCompletion:
		return pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	case ptr.Deref(spec.Parallelism, 1) == 1 || ptr.Deref(spec.Completions, 0) == 1:
		return ""
	}
	return pod.Name
}

// match describes the attempt of the Pod at an index: "attempt 2, train-3-x7k2p, on worker-1, main had 9Gi".
func (p *Plan) match(i int) string {
	pod := &p.Snapshot.Pods[i]
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

// NextAttemptLines describes the changes to the next attempt, the rules that make them, and the Pods that these rules matched.
func (i Item) NextAttemptLines() []string {
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
