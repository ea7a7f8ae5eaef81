package simulation

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// tell notes what happens to a pod.
func (s *simulator) tell(l *life, e Event) {
	e.Index, e.Attempt, e.Pod = new(l.slot), new(l.attempt), l.pod.Name
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

// cause says how a pod failed, shortly: what a person would look at first.
func cause(p *corev1.Pod) string {
	var causes []string
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget || c.Type == v1alpha1.FailingToStart && c.Reason != "" {
			causes = append(causes, string(c.Type)+": "+c.Reason)
		}
	}
	var codes []string
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for _, c := range statuses {
			codes = append(codes, exitText(c)...)
		}
	}
	if len(codes) > 0 {
		causes = append(causes, strings.Join(codes, ", "))
	}
	if len(causes) == 0 {
		return "never started"
	}
	return strings.Join(causes, "; ")
}

func exitText(c corev1.ContainerStatus) []string {
	ended := c.State.Terminated
	if ended == nil && c.State.Waiting != nil {
		ended = c.LastTerminationState.Terminated
	}
	switch {
	case ended == nil || ended.ExitCode == 0:
		return nil
	case ended.Reason == "OOMKilled":
		return []string{c.Name + " OOMKilled"}
	case ended.Reason == reasonUnknown:
		return []string{c.Name + " not started (" + strconv.Itoa(int(ended.ExitCode)) + ")"}
	}
	return []string{c.Name + " exited with " + strconv.Itoa(int(ended.ExitCode))}
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
