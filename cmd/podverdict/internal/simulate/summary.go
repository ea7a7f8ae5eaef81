package simulate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/internal/terminal"
	"github.com/podverdict/podverdict/runtime"
)

// rowf writes a line in the form of kubectl describe.
func rowf(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-19s%s\n", name+":", terminal.Line(fmt.Sprintf(format, args...)))
}

// writeSummary writes the outcome of the Job in the form of kubectl describe.
func writeSummary(w io.Writer, r *simulation.Result) {
	rowf(w, "Job", "%s/%s", r.Namespace, r.Name)
	switch r.Outcome {
	case simulation.Unfinished:
		rowf(w, "Outcome", "%s", strings.TrimSuffix(fmt.Sprintf("%s after %s: %s", r.Outcome, simulation.Clock(r.Seconds), r.Message), ": "))
	default:
		rowf(w, "Outcome", "%s after %s, %s: %s", r.Outcome, simulation.Clock(r.Seconds), r.Reason, r.Message)
	}
	s := r.Status
	rowf(w, "Pods Statuses", "%d Active (%d Ready) / %d Succeeded / %d Failed%s", s.Active, ptr.Deref(s.Ready, 0), s.Succeeded, s.Failed, terminating(s))
	if s.CompletedIndexes != "" {
		rowf(w, "Completed Indexes", "%s", shortened(s.CompletedIndexes))
	}
	if s.FailedIndexes != nil {
		rowf(w, "Failed Indexes", "%s", shortened(cmp.Or(*s.FailedIndexes, "none")))
	}
	if len(s.Conditions) > 0 {
		rowf(w, "Conditions", "%s", conditions(s.Conditions))
	}
	writeTotals(w, r.Summary, budgets(r.Events)...)
	if newNaming(r).memory {
		rowf(w, "Memory", "%s", memory(r.Events))
	}
}

// writeTotals writes the totals over all Pods.
func writeTotals(w io.Writer, s simulation.Summary, budgets ...string) {
	rowf(w, "Pods", "%s", pods(s))
	if verdicts := verdictCounts(s.Verdicts); verdicts != "" {
		rowf(w, "Verdicts", "%s", verdicts)
	}
	for _, text := range budgets {
		rowf(w, "Budget", "%s", text)
	}
	rowf(w, "Pod Time", "%s, %s of it wasted in failed attempts", simulation.Clock(s.PodSeconds), simulation.Clock(s.WastedSeconds))
}

func terminating(s batchv1.JobStatus) string {
	if n := ptr.Deref(s.Terminating, 0); n > 0 {
		return fmt.Sprintf(" / %d Terminating", n)
	}
	return ""
}

func conditions(all []batchv1.JobCondition) string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason)
	}
	return strings.Join(texts, ", ")
}

func pods(s simulation.Summary) string {
	text := fmt.Sprintf("%d created, %d succeeded", s.Pods, s.Succeeded)
	if s.Stopped > 0 {
		text += fmt.Sprintf(", %d stopped", s.Stopped)
	}
	if s.Restarts > 0 {
		text += fmt.Sprintf(", %d restarts in place", s.Restarts)
	}
	return text
}

func verdictCounts(verdicts map[string]int) string {
	var texts []string
	for _, action := range slices.Sorted(maps.Keys(verdicts)) {
		texts = append(texts, fmt.Sprintf("%d %s", verdicts[action], action))
	}
	return strings.Join(texts, ", ")
}

// budgets describes, for each rule with a budget, how often it matched within the budget and after it was used up.
func budgets(events []simulation.Event) []string {
	var rules []string
	had, after, last := map[string]int{}, map[string]int{}, map[string]runtime.Verdict{}
	for _, e := range events {
		if e.Verdict == nil || e.Verdict.Budget.Limit == 0 {
			continue
		}
		rule := e.Verdict.Subject()
		if had[rule]+after[rule] == 0 {
			rules = append(rules, rule)
		}
		if e.Verdict.IsUsedUp() {
			after[rule]++
		} else {
			had[rule]++
		}
		last[rule] = *e.Verdict
	}
	texts := make([]string, len(rules))
	for i, rule := range rules {
		texts[i] = fmt.Sprintf("%s, %s: %s", rule, last[rule].Budget, print.Plural(had[rule], "match"))
		if n := after[rule]; n > 0 {
			texts[i] += fmt.Sprintf(", then %s %s", last[rule].Budget.Then, print.Plural(n, "time"))
		}
	}
	return texts
}

// memory describes how many Pods had how much memory.
func memory(events []simulation.Event) string {
	var sizes []string
	pods := map[string]int{}
	for _, e := range events {
		if e.Type != simulation.PodCreated {
			continue
		}
		if pods[e.Memory]++; pods[e.Memory] == 1 {
			sizes = append(sizes, e.Memory)
		}
	}
	for i, size := range sizes {
		sizes[i] = fmt.Sprintf("%d with %s", pods[size], cmp.Or(size, "no limit"))
	}
	return strings.Join(sizes, ", ")
}
