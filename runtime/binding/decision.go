package binding

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// PendingStep is what to do with a pod that has not started, or had not when it was last checked.
type PendingStep string

// The steps.
const (
	// LeavePending means to do nothing.
	LeavePending PendingStep = "leave"
	// EndPending means to set the condition that says why, and to delete the pod.
	EndPending PendingStep = "end"
	// WithdrawPending means to withdraw the condition: the pod is not deleted.
	WithdrawPending PendingStep = "withdraw"
	// AuditPending means to report what would be done.
	AuditPending PendingStep = "audit"
	// TellPending means to report that the rules could not be evaluated.
	TellPending PendingStep = "tell"
)

// PendingDecision is a step with its reason.
type PendingDecision struct {
	Step    PendingStep
	Verdict runtime.Verdict
	Binding string // of the policy that decided
	Reason  string // why the condition is withdrawn
}

// Note returns the verdict's message for an event of the Job. If the Job's controller does not know the rule's action, the
// note says so.
func (d PendingDecision) Note(job *batchv1.Job) string {
	why := powerless(Manager(job), v1alpha1.ModeEnforce)
	if why == "" {
		return d.Verdict.Message()
	}
	return fmt.Sprintf("%s; nobody carries out %s: %s", d.Verdict.Message(), d.Verdict.Action, why)
}

// DecidePending returns what to do with a pod that is not being deleted. Its Job must be AtWork.
func (s Selection) DecidePending(ctx context.Context, in runtime.Input) PendingDecision {
	marked := runtime.FailingToStart(in.Pod) != nil
	switch {
	case in.Pod.Status.Phase == corev1.PodRunning && marked:
		return PendingDecision{Step: WithdrawPending, Reason: v1alpha1.ReasonStarted}
	case in.Pod.Status.Phase != corev1.PodPending:
		return PendingDecision{Step: LeavePending}
	}
	v, b := s.EndedPending(ctx, in)
	switch {
	case b != nil:
		return PendingDecision{Step: stepOf(v, EndPending), Verdict: v, Binding: b.Name}
	case marked && v.Err == nil:
		return PendingDecision{Step: WithdrawPending, Reason: v1alpha1.ReasonNoRule}
	case !marked && s.Audits():
		if v, b = s.AuditedPending(ctx, in); b != nil {
			return PendingDecision{Step: stepOf(v, AuditPending), Verdict: v, Binding: b.Name}
		}
	}
	if v.Err != nil {
		return PendingDecision{Step: TellPending, Verdict: v}
	}
	return PendingDecision{Step: LeavePending}
}

// stepOf returns the step for a rule that matched, or TellPending if the rule could not be evaluated.
func stepOf(v runtime.Verdict, matched PendingStep) PendingStep {
	if !v.Matched {
		return TellPending
	}
	return matched
}

// AtWork reports whether a Job wants its pods to start: it has not ended, is not about to end, and is not suspended.
func AtWork(job *batchv1.Job) bool {
	if job.DeletionTimestamp != nil || ptr.Deref(job.Spec.Suspend, false) {
		return false
	}
	for _, c := range job.Status.Conditions {
		switch c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet:
			if c.Status == corev1.ConditionTrue {
				return false
			}
		default:
		}
	}
	return true
}
