package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/podverdict/podverdict/controller/simulation"
)

// WriteSet writes the life of a JobSet: what its Jobs do, with what it does when some fail, and how it ends. Without wide, Jobs that
// do the same at the same time are one line.
func WriteSet(w io.Writer, r *simulation.SetResult, wide bool) {
	type event struct {
		at    int64
		order int
		text  func(jobs int) string
		name  string // of the Job; "" in lines of their own
	}
	var events []event
	for _, l := range r.Jobs {
		start, end := "created", l.Created+l.Seconds
		if l.Restart > 0 {
			start = "created again"
		}
		count := func(does string) func(int) string {
			return func(n int) string { return times(n, "Job", "Jobs") + " " + does }
		}
		events = append(events, event{l.Created, 3, count(start), l.Name})
		switch l.Outcome {
		case simulation.Complete:
			events = append(events, event{end, 0, count("complete"), l.Name})
		case simulation.Failed:
			events = append(events, event{end, 1, func(int) string { return fmt.Sprintf("Job %s failed, %s: %s", l.Name, l.Reason, l.Message) }, ""})
		}
	}
	for _, f := range r.Failures {
		events = append(events, event{f.Seconds, 2, func(int) string { return failureText(f) }, ""})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var lines []line
	for i := 0; i < len(events); {
		e, n := events[i], 1
		for e.name != "" && !wide && i+n < len(events) && events[i+n].name != "" && events[i+n].at == e.at && events[i+n].text(1) == e.text(1) {
			n++
		}
		text := e.text(n)
		if wide && e.name != "" {
			text += ": " + e.name
		}
		lines = append(lines, line{simulation.Clock(e.at), text})
		i += n
	}
	writeLines(w, lines)
	fmt.Fprintln(w)
	writeSetSummary(w, r)
}

// failureText says what the JobSet does about a failed Job.
func failureText(f simulation.SetFailure) string {
	text := fmt.Sprintf("JobSet: no rule applies, %s: ", f.Action)
	switch {
	case f.Action == "":
		text = "JobSet: there is no failurePolicy: "
	case f.Rule >= 0:
		text = fmt.Sprintf("JobSet: rule %d (%s), %s: ", f.Rule, f.RuleName, f.Action)
	}
	switch {
	case f.Failed:
		return text + "fails, " + f.Reason
	case f.Restart == 0:
		return text + f.Message
	case f.Counted:
		return text + fmt.Sprintf("restart %d of %d", f.Restart, f.Max)
	}
	return text + fmt.Sprintf("restart %d, not counted", f.Restart)
}

func writeSetSummary(w io.Writer, r *simulation.SetResult) {
	row(w, "JobSet", "%s/%s", cmp.Or(r.Namespace, "default"), r.Name)
	outcome := fmt.Sprintf("%s after %s", r.Outcome, simulation.Clock(r.Seconds))
	if r.Message != "" {
		outcome += fmt.Sprintf(", %s: %s", cmp.Or(r.Reason, "because"), r.Message)
	}
	row(w, "Outcome", "%s", outcome)
	restarts, counted := 0, 0
	for _, f := range r.Failures {
		if f.Restart > 0 {
			restarts++
		}
		if f.Counted {
			counted++
		}
	}
	row(w, "Restarts", "%d, of which %d count towards maxRestarts", restarts, counted)
	total, ends := simulation.Summary{Verdicts: map[string]int{}}, map[string]int{}
	for _, l := range r.Jobs {
		ends[l.Outcome]++
		total.Add(l.Summary)
	}
	row(w, "Jobs", "%d created, %d complete, %d failed", len(r.Jobs), ends[simulation.Complete], ends[simulation.Failed])
	writeTotals(w, total)
}
