package simulation

import (
	"fmt"
	"strings"
)

// addPodEvent records an event of a pod.
func (s *simulator) addPodEvent(l *life, e Event) {
	e.Index, e.Attempt, e.Pod, e.Node = new(l.slot), new(l.attempt+1), l.pod.Name, l.pod.Spec.NodeName
	s.addJobEvent(e)
}

// addJobEvent records an event of the Job.
func (s *simulator) addJobEvent(e Event) {
	e.Seconds = s.now
	s.result.Events = append(s.result.Events, e)
}

// changeText describes an intervention.
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
	for _, changed := range []struct{ node, what string }{
		{change.Drain, "drained"}, {change.Lose, "lost"}, {change.OutOfService, "tainted as out of service"},
		{change.Restore, "back"},
	} {
		if changed.node != "" {
			parts = append(parts, "node "+changed.node+" "+changed.what)
		}
	}
	return strings.Join(parts, ", ")
}
