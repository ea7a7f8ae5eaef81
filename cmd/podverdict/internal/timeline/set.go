package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/podverdict/podverdict/controller/simulation"
)

// setEvent is something that happens in a JobSet. Events of one time come in the order of their kinds.
type setEvent struct {
	at   int64
	kind setEventKind
	text string
	job  string // that does what others may do at the same time; "" for an event of its own
}

type setEventKind int

const (
	jobCompletes setEventKind = iota
	jobFails
	setDecides
	jobBegins
)

// WriteSet writes the life of a JobSet: what its Jobs do, with what it does when some fail, and how it ends. Jobs that do the same at
// the same time are one line; wide writes every event.
func WriteSet(w io.Writer, name string, r *simulation.SetResult, wide bool) {
	var lines []line
	events := setEvents(r)
	for i := 0; i < len(events); {
		e, n := events[i], 1
		for e.job != "" && !wide && i+n < len(events) && events[i+n].at == e.at && events[i+n].text == e.text {
			n++
		}
		text := e.text
		switch {
		case e.job != "" && wide:
			text = "Job " + e.job + " " + text
		case e.job != "":
			text = times(n, "Job", "Jobs") + " " + text
		}
		lines = append(lines, line{simulation.Clock(e.at), text})
		i += n
	}
	writeLines(w, lines)
	fmt.Fprintln(w)
	writeSetSummary(w, name, r)
}

func setEvents(r *simulation.SetResult) (events []setEvent) {
	for _, l := range r.Jobs {
		begins, end := "created", l.Created+l.Seconds
		if l.Restart > 0 {
			begins = "created again"
		}
		events = append(events, setEvent{l.Created, jobBegins, begins, l.Name})
		switch l.Outcome {
		case simulation.Complete:
			events = append(events, setEvent{end, jobCompletes, "complete", l.Name})
		case simulation.Failed:
			events = append(events, setEvent{end, jobFails, fmt.Sprintf("Job %s failed, %s: %s", l.Name, l.Reason, l.Message), ""})
		}
	}
	for _, f := range r.Failures {
		events = append(events, setEvent{f.Seconds, setDecides, "JobSet: " + failureText(f), ""})
	}
	slices.SortStableFunc(events, func(a, b setEvent) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	return events
}

// failureText says what the JobSet does about a failed Job.
func failureText(f simulation.SetFailure) string {
	text := fmt.Sprintf("no rule applies, %s: ", f.Action)
	switch {
	case f.Action == "":
		text = "there is no failurePolicy: "
	case f.Rule != nil:
		text = fmt.Sprintf("rule %d (%s), %s: ", *f.Rule, f.RuleName, f.Action)
	}
	switch {
	case f.Failed:
		return text + "fails, " + f.Reason
	case f.Restart == 0:
		return text + f.Message
	case f.Max > 0:
		return text + fmt.Sprintf("restart %d of %d", f.Restart, f.Max)
	}
	return text + fmt.Sprintf("restart %d, not counted", f.Restart)
}

func writeSetSummary(w io.Writer, name string, r *simulation.SetResult) {
	rowf(w, "JobSet", "%s", name)
	outcome := fmt.Sprintf("%s after %s", r.Outcome, simulation.Clock(r.Seconds))
	if r.Message != "" {
		outcome += fmt.Sprintf(", %s: %s", cmp.Or(r.Reason, "because"), r.Message)
	}
	rowf(w, "Outcome", "%s", outcome)
	restarts, counted := 0, 0
	for _, f := range r.Failures {
		if f.Restart > 0 {
			restarts++
		}
		if f.Max > 0 && !f.Failed {
			counted++
		}
	}
	rowf(w, "Restarts", "%d, %d of them counted", restarts, counted)
	total, ends := simulation.Summary{Verdicts: map[string]int{}}, map[string]int{}
	for _, l := range r.Jobs {
		ends[l.Outcome]++
		total.Add(l.Summary)
	}
	rowf(w, "Jobs", "%d created, %d complete, %d failed", len(r.Jobs), ends[simulation.Complete], ends[simulation.Failed])
	writeTotals(w, total)
}
