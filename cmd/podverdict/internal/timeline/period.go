package timeline

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// steps are lengths of periods, in seconds, that people count in.
var steps = []int64{
	1, 2, 5, 10, 15, 30, 60, 2 * 60, 5 * 60, 10 * 60, 15 * 60, 30 * 60, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600,
}

// step is the shortest period of which count are enough.
func step(seconds int64, count int64) int64 {
	for _, s := range steps {
		if seconds <= s*count {
			return s
		}
	}
	day := steps[len(steps)-1]
	return day * (seconds/(day*count) + 1)
}

// periods sum up the events of pods; what happens to the Job keeps a line of its own.
func periods(events []simulation.Event) []line {
	if len(events) == 0 {
		return nil
	}
	length := step(events[len(events)-1].Seconds+1, maxPeriods)
	var lines []line
	var pods []simulation.Event
	flush := func() {
		if len(pods) > 0 {
			lines = append(lines, period(pods, length))
			pods = nil
		}
	}
	for _, e := range events {
		if len(pods) > 0 && pods[0].Seconds/length != e.Seconds/length {
			flush()
		}
		switch {
		case hidden(e):
		case e.Type == simulation.JobChanged, e.Type == simulation.JobCondition:
			flush()
			lines = append(lines, line{simulation.Clock(e.Seconds), sentence(e)})
		default:
			pods = append(pods, e)
		}
	}
	flush()
	return lines
}

// period is what pods did from the first of the events to the end of its period.
func period(events []simulation.Event, length int64) line {
	from := events[0].Seconds / length * length
	counts := map[string]int{}
	var kinds []string
	for _, e := range events {
		kind := kindText(e)
		if kind == "" {
			continue
		}
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	at := simulation.Clock(from) + " to " + simulation.Clock(from+length)
	return line{at, strings.Join(parts, ", ")}
}

// kindText is what events are summed up by.
func kindText(e simulation.Event) string {
	switch e.Type {
	case simulation.PodCreated:
		if e.Attempt != nil && *e.Attempt > 0 {
			return "retried"
		}
		return "created"
	case simulation.PodSucceeded:
		return "succeeded"
	case simulation.PodFailed:
		return "failed: " + verdictText(e)
	case simulation.PodRestarting:
		return "restarted in place"
	case simulation.PodStopped:
		return "stopped"
	case simulation.IndexFailed:
		return "indexes failed"
	case simulation.PodEvicted:
		return "evicted"
	}
	return "" // said by what follows from it
}
