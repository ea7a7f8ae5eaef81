package plan

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Reasons of events. JobStart and JobFinish come from the Job controller proposal; the others are upstream's.
const (
	ReasonJobStart  = "JobStart"
	ReasonJobFinish = "JobFinish"
	// ReasonLedgerLost is the reason of a Warning that the Job's status counts pods that neither the ledger nor the pods
	// account for.
	ReasonLedgerLost = "LedgerLost"
	// ReasonInvalidAnnotation is the reason of a Warning that is recorded once, when the Job starts.
	ReasonInvalidAnnotation = "InvalidAnnotation"
)

func startEvent() Event { return Event{corev1.EventTypeNormal, ReasonJobStart, "Job started"} }

func suspendedEvent() Event { return Event{corev1.EventTypeNormal, "Suspended", "Job suspended"} }

func resumedEvent() Event { return Event{corev1.EventTypeNormal, "Resumed", "Job resumed"} }

func problemEvent(problem error) Event {
	return Event{corev1.EventTypeWarning, ReasonInvalidAnnotation, problem.Error()}
}

func lostEvent() Event {
	return Event{
		corev1.EventTypeWarning, ReasonLedgerLost,
		"The status counts pods of which there is no record: the budgets of rules count as used up, and what is counted is not run again",
	}
}

func unknownModeEvent() Event {
	return Event{corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown"}
}

// endEvents returns the events for the end of the Job: upstream's and the proposal's.
func (n *next) endEvents() []Event {
	finish := Event{corev1.EventTypeNormal, ReasonJobFinish, "Job finished: " + string(n.goal.terminal)}
	if n.goal.terminal == batchv1.JobFailed {
		return []Event{{corev1.EventTypeWarning, n.goal.reason, n.goal.message}, finish}
	}
	events := []Event{{corev1.EventTypeNormal, "Completed", "Job completed"}, finish}
	if n.succeeded > n.completions {
		tooMany := Event{corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached"}
		events = append([]Event{tooMany}, events...)
	}
	return events
}
