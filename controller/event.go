package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
)

// Reasons of the events of the shell. The first four are upstream's (pkg/controller/controller_utils.go).
const (
	reasonSuccessfulCreate = "SuccessfulCreate"
	reasonFailedCreate     = "FailedCreate"
	reasonSuccessfulDelete = "SuccessfulDelete"
	reasonFailedDelete     = "FailedDelete"
	// reasonInvalidPolicy is that of a Job whose podFailurePolicy has no meaning to us.
	reasonInvalidPolicy = "InvalidPodFailurePolicy"
	// reasonInvalidStatus is that of a Job whose status the API server refuses, because somebody else wrote what cannot be.
	reasonInvalidStatus = "InvalidStatus"
)

const (
	// eventAction is what the controller was doing when something happened to a Job.
	eventAction = "Reconcile"
	// maxNote is how long the API server lets an event's note be.
	maxNote = 1024
)

// tell records an event of the Job.
func (w *work) tell(e plan.Event) {
	w.recorder.Eventf(w.job, nil, e.Type, e.Reason, eventAction, "%s", e.Message[:min(len(e.Message), maxNote)])
}

func (w *work) warn(reason, message string) {
	w.tell(plan.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message})
}

func (w *work) note(reason, message string) {
	w.tell(plan.Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message})
}
