package controller

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// pendingStep is what is to be done with a pod that has not started, or had not when it was looked at last.
type pendingStep string

const (
	// pendingLeave is to do nothing.
	pendingLeave pendingStep = "leave"
	// pendingEnd is to give the pod the condition that says why, and to delete it.
	pendingEnd pendingStep = "end"
	// pendingWithdraw is to take the condition back: the pod is not deleted.
	pendingWithdraw pendingStep = "withdraw"
	// pendingAudit is to tell what would be done.
	pendingAudit pendingStep = "audit"
	// pendingTell is to tell that the rules could not be evaluated.
	pendingTell pendingStep = "tell"
)

// pendingDecision is a step and why.
type pendingDecision struct {
	step    pendingStep
	verdict runtime.Verdict
	binding string // of the policy that decided
	reason  string // why the condition is taken back
}

// decidePending says what becomes of a pod that is not being deleted. Its Job is at work.
func decidePending(ctx context.Context, s binding.Selection, in custom.Input) pendingDecision {
	marked := runtime.FailingToStart(in.Pod) != nil
	switch {
	case in.Pod.Status.Phase == corev1.PodRunning && marked:
		return pendingDecision{step: pendingWithdraw, reason: v1alpha1.ReasonStarted}
	case in.Pod.Status.Phase != corev1.PodPending:
		return pendingDecision{step: pendingLeave}
	}
	if v, b := s.EndedPending(ctx, in); b != nil {
		return pendingDecision{step: stepOf(v, pendingEnd), verdict: v, binding: b.Name}
	}
	if marked {
		return pendingDecision{step: pendingWithdraw, reason: v1alpha1.ReasonNoRule}
	}
	if !s.Audits() {
		return pendingDecision{step: pendingLeave}
	}
	if v, b := s.AuditedPending(ctx, in); b != nil {
		return pendingDecision{step: stepOf(v, pendingAudit), verdict: v, binding: b.Name}
	}
	return pendingDecision{step: pendingLeave}
}

// stepOf is the step of a rule that matched, or that nobody knows whether it does.
func stepOf(v runtime.Verdict, matched pendingStep) pendingStep {
	if v.Err != nil {
		return pendingTell
	}
	return matched
}

// atWork tells whether a Job wants its pods to start: it has not ended, is not about to end, and is not suspended.
func atWork(job *batchv1.Job) bool {
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
