package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/controller/simulation"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// maxLines is the number of lines above which events are summarized by period.
const maxLines = 60

// maxPeriods is the maximum number of periods in a summary.
const maxPeriods = 24

type line struct{ at, text string }

// writeTimeline writes one line for each group of similar events at the same time. A timeline that is too long is summarized by
// period. If wide is set, every event has its own line.
func writeTimeline(w io.Writer, r *simulation.Result, wide bool) {
	var lines []line
	names := newNaming(r)
	if wide {
		for _, e := range r.Events {
			lines = append(lines, line{simulation.Clock(e.Seconds), names.wideText(e)})
		}
	} else if lines = names.moments(r.Events); len(lines) > maxLines {
		lines = names.periods(r.Events)
	}
	writeLines(w, lines)
}

func writeLines(w io.Writer, lines []line) {
	table := print.NewTable(w, print.Screen{}, true, print.Column{Name: "TIME"}, print.Column{Name: "EVENT"})
	for _, l := range lines {
		table.Row(print.Cell{Text: l.at}, print.Cell{Text: l.text})
	}
	_ = table.Flush() // writing to a buffer does not fail
}

type group struct {
	simulation.Event

	indexes []int
}

// moments groups events by time, and merges similar events at the same time.
func (n naming) moments(events []simulation.Event) []line {
	var lines []line
	for start := 0; start < len(events); {
		end := start
		for end < len(events) && events[end].Seconds == events[start].Seconds {
			end++
		}
		at := simulation.Clock(events[start].Seconds)
		for _, g := range n.groups(events[start:end]) {
			lines = append(lines, line{at, n.text(g)})
		}
		start = end
	}
	return lines
}

// groups merges similar events, ordered by their first occurrence.
func (n naming) groups(events []simulation.Event) []*group {
	var all []*group
	known := map[string]*group{}
	for _, e := range events {
		if e.Type == simulation.JobEvent {
			continue // already covered by other events, like conditions
		}
		k := fmt.Sprint(e.Type, n.given(e), verdictText(e), e.Because, e.Delay, e.Reason, e.Message)
		if known[k] == nil {
			known[k] = &group{Event: e}
			all = append(all, known[k])
		}
		if e.Index != nil {
			known[k].indexes = append(known[k].indexes, *e.Index)
		}
	}
	return all
}

func (n naming) text(g *group) string {
	what := ""
	switch count := len(g.indexes); {
	case count == 1 && g.Attempt != nil && *g.Attempt > 1:
		what = fmt.Sprintf("%s, attempt %d: ", n.one(g.indexes[0]), *g.Attempt)
	case count == 1:
		what = n.one(g.indexes[0]) + ": "
	case count > 1:
		what = n.many(shortened(plan.Indexes(g.indexes))) + ": "
	}
	return what + n.sentence(g.Event)
}

func (n naming) wideText(e simulation.Event) string {
	text := n.sentence(e) + changesText(e)
	if e.Index != nil && e.Attempt != nil {
		text = fmt.Sprintf("%s, attempt %d, %s: %s", n.one(*e.Index), *e.Attempt, e.Pod, text)
	} else if e.Index != nil {
		text = n.one(*e.Index) + ": " + text
	}
	return text
}

func (n naming) sentence(e simulation.Event) string {
	switch e.Type {
	case simulation.PodCreated:
		text := "created" + n.given(e)
		if e.Delay > 0 {
			text += ", " + simulation.Clock(e.Delay) + " after the attempt before"
		}
		return text
	case simulation.PodStarted:
		return "started" + n.given(e)
	case simulation.PodSucceeded:
		return "succeeded"
	case simulation.PodFailed:
		return "failed, " + e.Because + ": " + verdictText(e)
	case simulation.PodRestarting:
		return fmt.Sprintf("%s: %s after %s, %s", e.Because, restart.Action(e.Reason).Does(), simulation.Clock(e.Delay), e.Message)
	case simulation.PodDeleted:
		if e.Message != "" {
			return "deleted, and gets condition " + e.Message
		}
		return "deleted"
	case simulation.PodEnded:
		return "marked as failed, and gets condition " + e.Message
	case simulation.PodRemoved:
		return "removed by force: its node has not confirmed its end"
	case simulation.PodSpared:
		return "would be ended, " + verdictText(e) + ", but " + e.Message
	case simulation.PodEvicted:
		return "evicted, and gets condition DisruptionTarget"
	case simulation.PodStopped:
		return "stopped" + stoppedVerdict(e)
	case simulation.IndexFailed:
		return "given up: the index has failed"
	case simulation.JobChanged:
		return e.Message
	case simulation.JobCondition:
		return "condition " + e.Reason + ", " + e.Message
	default:
		return "event " + e.Reason + ": " + e.Message
	}
}

func stoppedVerdict(e simulation.Event) string {
	if e.Verdict == nil {
		return ""
	}
	return ": " + verdictText(e)
}

// verdictText describes the verdict on a failure.
func verdictText(e simulation.Event) string {
	switch {
	case e.Verdict == nil:
		return ""
	case e.Verdict.IsUsedUp():
		return fmt.Sprintf("%s by %s, budget used up", e.Verdict.Action, e.Verdict.Subject())
	case e.Verdict.Matched:
		return fmt.Sprintf("%s by %s", e.Verdict.Action, e.Verdict.Subject())
	}
	return string(e.Verdict.Action)
}

// shortened truncates a long list of ranges.
func shortened(list string) string {
	const enough = 60
	if len(list) <= enough {
		return list
	}
	cut := strings.LastIndexByte(list[:enough], ',')
	return list[:cut] + ",..."
}
