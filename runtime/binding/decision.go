package binding

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// LivingStep is the action on a living pod.
type LivingStep string

// The values of LivingStep.
const (
	// LeaveLiving means that nothing is done.
	LeaveLiving LivingStep = "leave"
	// EndLiving means that the condition with the reason is set and the pod is ended: by deletion, or, if it is terminating, by
	// setting phase Failed.
	EndLiving LivingStep = "end"
	// WithdrawLiving means that the condition is withdrawn and the pod is not ended.
	WithdrawLiving LivingStep = "withdraw"
	// AuditLiving means that the rule's action is reported, but not performed.
	AuditLiving LivingStep = "audit"
	// TellLiving means that an evaluation error is reported.
	TellLiving LivingStep = "tell"
)

// LivingDecision is a step and its reason.
type LivingDecision struct {
	Step    LivingStep
	Phase   corev1.PodPhase
	Verdict runtime.Verdict
	Binding string // binding of the policy that decided
	// Conditions are the conditions to write. With EndLiving they are the condition with the reason and, if it replaces an
	// earlier condition of another type, that one. With WithdrawLiving it is the withdrawn condition.
	Conditions []corev1.PodCondition
	// Reason explains why a pod is only reported, with AuditLiving.
	Reason string
}

// Note returns the verdict's message for an event of the Job. If the Job's controller does not support the rule's action, the
// note includes that.
func (d LivingDecision) Note(job *batchv1.Job) string {
	why := runBy(job).powerless(v1alpha1.ModeEnforce)
	if why == "" {
		return d.Verdict.Message()
	}
	return fmt.Sprintf("%s; nobody carries out %s: %s", d.Verdict.Message(), d.Verdict.Action, why)
}

// DecideLiving returns the step for a pod. Unless the pod is terminating, its Job must be AtWork.
func (s Selection) DecideLiving(ctx context.Context, in runtime.Input) LivingDecision {
	phase := v1alpha1.PhaseOf(in.Pod)
	d := LivingDecision{Step: LeaveLiving, Phase: phase}
	if !v1alpha1.Lives(phase) {
		return d
	}
	v := s.ending(ctx, in, false)
	marked := runtime.EndedBy(in.Pod)
	if phase == v1alpha1.PhaseTerminating {
		marked = nil // the pod may be terminating because of its condition, and keeps it
	}
	spared := v.spares(in)
	switch started := marked != nil && marked.Type == v1alpha1.FailingToStart && phase == corev1.PodRunning; {
	case v.Matched && spared == "":
		d.Step, d.Conditions = EndLiving, []corev1.PodCondition{v.Policy.PodCondition(v.Verdict)}
		if marked != nil && marked.Type != d.Conditions[0].Type {
			d.Conditions = append(d.Conditions, withdrawn(marked, phase))
		}
	case marked != nil && (v.Err == nil || started):
		d.Step, d.Conditions = WithdrawLiving, []corev1.PodCondition{withdrawn(marked, phase)}
	case v.Binding == nil && marked == nil:
		v = s.Living(ctx, in, false)
		spared = v.spares(in)
	}
	switch d.Verdict, d.Reason = v.Verdict, spared; {
	case d.Step != LeaveLiving:
	case v.Matched && phase == v1alpha1.PhaseTerminating && inGrace(in): // the kubelet still has time to end the pod
	case v.Matched:
		d.Step = AuditLiving
	case v.Err != nil:
		d.Step = TellLiving
	}
	if v.Binding != nil {
		d.Binding = v.Binding.Name
	}
	return d
}

// inGrace reports whether the grace period of a pod that is being deleted has not ended.
func inGrace(in runtime.Input) bool { return in.Now.Before(in.Pod.DeletionTimestamp.Time) }

// withdrawn returns the withdrawn condition of a pod that is not ended after all.
func withdrawn(marked *corev1.PodCondition, phase corev1.PodPhase) corev1.PodCondition {
	c := corev1.PodCondition{Type: marked.Type, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonNoRule}
	if marked.Type == v1alpha1.FailingToStart && phase == corev1.PodRunning {
		c.Reason = v1alpha1.ReasonStarted
	}
	return c
}

// spares returns the reason why a pod that a rule matches is only reported, or an empty string if it must be ended.
func (v LivingVerdict) spares(in runtime.Input) string {
	phase := v1alpha1.PhaseOf(in.Pod)
	switch {
	case !v.Matched:
		return ""
	case v.Binding.Spec.Mode == v1alpha1.ModeAudit:
		return "the binding has mode Audit"
	case !v.Ends(in.Pod):
		return fmt.Sprintf("livingPods of the binding lacks %s", phase)
	case phase == v1alpha1.PhaseTerminating:
		return Spared(in)
	}
	return ""
}

// ForcefulDeletion is the annotation by which Kueue allows or forbids treating a pod on a lost node as failed (KEP-6757). Any
// value other than "true" forbids it.
const ForcefulDeletion = "kueue.x-k8s.io/safe-to-forcefully-delete"

// KueueQueue is the label with the name of the queue through which Kueue admits a Job.
const KueueQueue = "kueue.x-k8s.io/queue-name"

// Spared returns the reason why a terminating pod must not be ended by force, or an empty string. The pod's containers may still
// run on the node, and only a node that is unresponsive or gone cannot end the pod itself.
func Spared(in runtime.Input) string {
	consent, given := in.Pod.Annotations[ForcefulDeletion]
	switch {
	case inGrace(in):
		return "its grace period is not over"
	case given && consent != "true":
		return fmt.Sprintf("its annotation %s is %q", ForcefulDeletion, consent)
	case in.Pod.Spec.NodeName == "" || in.NodesRead && in.Node == nil:
		return ""
	case !in.NodesRead:
		return "its node is not known"
	case cel.NodeReady(in.Node):
		return "its node is Ready"
	}
	return ""
}

// AtWork reports whether a Job wants its pods to start: it has not finished, is not about to finish, and is not suspended.
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
