package running

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/plan"
)

// Reasons of the events of managed Jobs. The first three are upstream's (pkg/controller/controller_utils.go).
const (
	reasonSuccessfulCreate = "SuccessfulCreate"
	reasonFailedCreate     = "FailedCreate"
	reasonSuccessfulDelete = "SuccessfulDelete"
	// reasonRetryMended means that created pods were changed because of rules with a retry.
	reasonRetryMended = "RetryMended"
	// reasonBeyondAdmission means that pods request more memory than Kueue accounts for, because it admitted the Job by its
	// template.
	reasonBeyondAdmission = "RetryBeyondAdmission"
	// reasonMatchCondition means that a match condition could not be evaluated, so it is unknown whether a custom policy
	// applies to the Job.
	reasonMatchCondition = "MatchConditionFailed"
	// reasonInvalidStatus means that the API server rejects the Job's new status, because another client wrote an invalid one
	// before.
	reasonInvalidStatus = "InvalidStatus"
	// reasonExcessive means that the Job is not run because it has too many labels and annotations.
	reasonExcessive = "TooManyLabels"
)

// record records an event of the Job.
func (w *work) record(e plan.Event) {
	w.reconciler.Recorder.Eventf(w.job, nil, e.Type, e.Reason, recorder.Action, "%s", e.Message)
}

func (w *work) warn(reason, message string) {
	w.record(plan.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message})
}

func (w *work) note(reason, message string) {
	w.record(plan.Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message})
}

func policyReference(name string) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindPodFailurePolicy, Name: name}
}
