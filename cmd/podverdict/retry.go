package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	controllerplan "github.com/podverdict/podverdict/controller/plan"
)

// retryItem is what the attempt after a failed Pod gets because of rules that have matched at its index.
type retryItem struct {
	// Managed is false if it would get that only if podverdict ran the Job.
	Managed bool                    `json:"managed"`
	Changes []controllerplan.Mended `json:"changes"`

	retries controllerplan.Retries
	matches []retryMatch // which led to it, the first attempt first; only explain has them
	plan    *plan
	last    bool // the Job or its index fails with the Pod
}

// addRetries adds what the attempt after each failed Pod gets.
func (p *plan) addRetries(ctx context.Context, items []verdictItem) {
	for i, next := range p.snapshot.NextAttempts(ctx) {
		items[i].decided = next.Decided
		if len(next.Retries) == 0 {
			continue
		}
		r := &retryItem{Managed: p.rules.Effect.Enforced, retries: next.Retries, plan: p, last: next.Last}
		_, changes := next.Mend(&p.stored.Spec.Template.Spec)
		r.Changes = append([]controllerplan.Mended{}, changes...)
		items[i].Retry = r
	}
}

// over reports whether nothing comes after an attempt, because of it or because the Job is at its end.
func (r *retryItem) over() bool {
	next := r.plan.next
	return r.last || next != nil && next.Does != controllerplan.Creates && next.Does != controllerplan.Waits && next.Does != controllerplan.Suspended
}

// nextAttempt says what the next attempt gets: "next attempt: memory of main 512Mi -> 768Mi; avoids node-3". It is empty if there is
// nothing to say.
func (i verdictItem) nextAttempt() string {
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

// parts says what the next attempt gets, and which containers ran out of memory and get no more.
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
		if has := controllerplan.Memory(&r.plan.stored.Spec.Template.Spec, name); !has.IsZero() {
			all = append(all, fmt.Sprintf("memory of %s stays %s, which is not below max", name, has.String()))
		} else {
			all = append(all, name+" has no memory of its own that could grow")
		}
	}
	return all
}
