package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/controller/simulation"
)

// setEvent is an event in the life of a JobSet. Events at the same time are ordered by kind.
type setEvent struct {
	at    int64
	kind  setEventKind
	text  string
	alike bool // merged with equal events at the same time
}

type setEventKind int

const (
	podEnds setEventKind = iota
	jobCompletes
	jobFails
	setDecides
	jobBegins
	podBegins
)

// writeSet writes the life of a JobSet: the events of its Jobs, the reaction to failed Jobs, and the outcome. Equal events at the
// same time share a line. A detailed simulation also has lines for the Pods.
func writeSet(w io.Writer, name string, r *simulation.SetResult) {
	var lines []line
	events := setEvents(r)
	for i := 0; i < len(events); {
		e, n := events[i], 1
		for e.alike && i+n < len(events) && events[i+n] == e {
			n++
		}
		text := e.text
		if e.alike {
			text = print.Plural(n, "Job") + " " + text
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
		events = append(events, setEvent{l.Created, jobBegins, begins, true})
		switch l.Outcome {
		case simulation.Complete:
			events = append(events, setEvent{end, jobCompletes, "complete", true})
		case simulation.Failed:
			events = append(events, setEvent{end, jobFails, fmt.Sprintf("Job %s failed, %s: %s", l.Name, l.Reason, l.Message), false})
		}
		events = append(events, podEvents(l)...)
	}
	for _, f := range r.Failures {
		events = append(events, setEvent{f.Seconds, setDecides, "JobSet: " + failureText(f), false})
	}
	slices.SortStableFunc(events, func(a, b setEvent) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	return events
}

// podEvents returns the events of a Job's Pods, or nil if they were not simulated.
func podEvents(l *simulation.JobLife) (events []setEvent) {
	if l.Result == nil {
		return nil
	}
	names := newNaming(l.Result)
	for _, e := range l.Result.Events {
		kind, pod := podEnds, "Pod "+e.Pod
		if e.Seconds == 0 {
			kind = podBegins
		}
		if e.Pod == "" {
			continue // the Job has its own line
		}
		if *e.Attempt > 1 {
			pod += fmt.Sprintf(", attempt %d", *e.Attempt)
		}
		events = append(events, setEvent{l.Created + e.Seconds, kind, pod + ": " + names.sentence(e), false})
	}
	return events
}

// failureText describes how the JobSet reacts to a failed Job.
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
