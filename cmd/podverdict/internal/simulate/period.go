package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// steps are the usual period lengths, in seconds.
var steps = []int64{
	1, 2, 5, 10, 15, 30, 60, 2 * 60, 5 * 60, 10 * 60, 15 * 60, 30 * 60, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600,
}

// step returns the shortest period length such that count periods cover the given time.
func step(seconds int64, count int64) int64 {
	for _, s := range steps {
		if seconds <= s*count {
			return s
		}
	}
	day := steps[len(steps)-1]
	return day * (seconds/(day*count) + 1)
}

// periods returns one line for the Pod events of each period and one line for each Job event. The line of a period is placed at its
// first event.
func (n naming) periods(events []simulation.Event) []line {
	if len(events) == 0 {
		return nil
	}
	length := step(events[len(events)-1].Seconds+1, maxPeriods)
	var lines []line
	at := map[int64]int{} // index of each period's line
	members := map[int64][]simulation.Event{}
	for _, e := range events {
		number := e.Seconds / length
		_, known := at[number]
		switch {
		case e.Type == simulation.JobChanged, e.Type == simulation.JobCondition:
			lines = append(lines, line{simulation.Clock(e.Seconds), n.sentence(e)})
		case rank(e) < 0:
		case !known:
			at[number] = len(lines)
			lines = append(lines, line{at: simulation.Clock(number*length) + " to " + simulation.Clock((number+1)*length)})
			fallthrough
		default:
			members[number] = append(members[number], e)
		}
	}
	for number, place := range at {
		lines[place].text = sums(members[number])
	}
	return lines
}

// sums counts events by kind.
func sums(events []simulation.Event) string {
	counts := map[string]int{}
	slices.SortStableFunc(events, func(a, b simulation.Event) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(verdictText(a), verdictText(b)))
	})
	var kinds []string
	for _, e := range events {
		kind := kindText(e)
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

// counted are the kinds of events that are counted, as in "3 created, 1 failed", in order of appearance. The first is for first
// attempts.
var counted = []struct {
	event simulation.EventType
	text  string
}{
	{"", "created"}, {simulation.PodCreated, "created again"}, {simulation.PodSucceeded, "succeeded"}, {simulation.PodFailed, "failed"},
	{simulation.PodRestarting, "restarted in place"}, {simulation.IndexFailed, "given up"}, {simulation.PodEvicted, "evicted"},
	{simulation.PodStopped, "stopped"},
}

// rank returns the index of an event in counted, or -1 if the event is not counted because another event covers it.
func rank(e simulation.Event) int {
	if e.Type == simulation.PodCreated && (e.Attempt == nil || *e.Attempt <= 1) {
		return 0
	}
	for i, kind := range counted {
		if kind.event == e.Type {
			return i
		}
	}
	return -1
}

// kindText returns the kind under which an event is counted.
func kindText(e simulation.Event) string {
	switch r := rank(e); {
	case r < 0:
		return string(e.Type)
	case e.Type == simulation.PodFailed:
		return counted[r].text + " (" + verdictText(e) + ")"
	default:
		return counted[r].text
	}
}
