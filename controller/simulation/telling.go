package simulation

import (
	"fmt"
	"strings"
)

// tell notes what happens to a pod.
func (s *simulator) tell(l *life, e Event) {
	e.Index, e.Attempt, e.Pod = new(l.slot), new(l.attempt+1), l.pod.Name
	if e.Because != "" {
		s.result.Attempts[l.record].Because = e.Because
	}
	s.tellJob(e)
}

// tellJob notes what happens to the Job.
func (s *simulator) tellJob(e Event) {
	e.Seconds = s.now
	s.result.Events = append(s.result.Events, e)
}

// changeText says what was done to the Job from outside.
func changeText(change intervention, unit Unit) string {
	var parts []string
	if change.Suspend != nil && *change.Suspend {
		parts = append(parts, "suspended")
	} else if change.Suspend != nil {
		parts = append(parts, "resumed")
	}
	for _, scaled := range []struct {
		field string
		to    *int32
	}{{"parallelism", change.Parallelism}, {"completions", change.Completions}} {
		if scaled.to != nil {
			parts = append(parts, fmt.Sprintf("%s set to %d", scaled.field, *scaled.to))
		}
	}
	if change.Delete != nil {
		parts = append(parts, "active pods of "+string(unit)+" "+change.Delete.String()+" deleted")
	}
	if change.Evict != nil {
		parts = append(parts, "active pods of "+string(unit)+" "+change.Evict.String()+" evicted")
	}
	if change.Drain != "" {
		parts = append(parts, "node "+change.Drain+" drained")
	}
	return strings.Join(parts, ", ")
}
