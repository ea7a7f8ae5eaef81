package pending

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/recorder"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Reasons of the events about pods that do not start. The events are about the Jobs, because those remain.
const (
	reasonDeleted   = "PodDeletedByPolicy"
	reasonAudited   = "PodWouldBeDeleted"
	reasonRuleError = "PendingRuleError"
)

// eventAction is the action of these events.
const eventAction = "EndPendingPod"

// carryOut carries out the decision on a pod.
func (l *pass) carryOut(ctx context.Context, c *task) {
	switch c.Step {
	case binding.EndLiving:
		l.end(ctx, c)
	case binding.WithdrawLiving:
		_, err := l.condition(ctx, c.pod, c.Conditions[0])
		l.settle(ctx, c, err)
	case binding.AuditLiving:
		l.once(c, reasonAudited, func() {
			l.Metrics.PendingPod(c.job, c.Verdict, metrics.PendingAudited)
			l.event(c, corev1.EventTypeNormal, reasonAudited, c.Note(c.job))
		})
	case binding.TellLiving:
		l.once(c, reasonRuleError, func() {
			l.Metrics.PendingError(c.job, metrics.PendingRule)
			l.event(c, corev1.EventTypeWarning, reasonRuleError, c.Verdict.Err.Error())
		})
	case binding.LeaveLiving:
	}
}

// end sets the condition, unless the pod has it, and deletes the pod. A pod that has changed is left to the next pass.
func (l *pass) end(ctx context.Context, c *task) {
	l.rest--
	pod, err := l.condition(ctx, c.pod, c.Conditions[0])
	deleted := false
	if err == nil && pod != nil {
		deleted, err = l.deletePod(ctx, pod)
	}
	l.settle(ctx, c, err)
	if !deleted {
		return
	}
	l.Metrics.PendingPod(c.job, c.Verdict, metrics.PendingDeleted)
	l.event(c, corev1.EventTypeWarning, reasonDeleted, c.Note(c.job))
	klog.FromContext(ctx).V(2).Info("Deleted a pod that does not start", "pod", klog.KObj(pod), "binding", c.Binding, "because", c.Verdict.Message())
}

// condition sets the condition unless the pod has changed since it was read. It returns the pod, or nil if it has changed.
func (l *pass) condition(ctx context.Context, pod *corev1.Pod, c corev1.PodCondition) (*corev1.Pod, error) {
	c.LastTransitionTime = metav1.NewTime(l.Clock.Now())
	if old := runtime.EndedBy(pod); old != nil && c.Status == old.Status {
		if c.Reason == old.Reason && c.Message == old.Message {
			return pod, nil
		}
		c.LastTransitionTime = old.LastTransitionTime
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"status":   map[string]any{"conditions": []corev1.PodCondition{c}}, // conditions are merged by type
	})
	if err != nil {
		return nil, err
	}
	returned, err := l.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil, nil //nolint:nilnil // the caches will show the change
	case err != nil:
		return nil, fmt.Errorf("set the condition %s of pod %s/%s: %w", c.Type, pod.Namespace, pod.Name, err)
	}
	return returned, nil
}

// deletePod deletes the pod unless it has changed: it may have started.
func (l *pass) deletePod(ctx context.Context, pod *corev1.Pod) (deleted bool, err error) {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}
	err = l.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil // the caches will show the change
	case err != nil:
		return false, fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return true, nil
}

// settle remembers whether the calls for a pod failed. A pod whose call failed is retried in the next pass, after all others,
// and its failure is recorded once.
func (l *pass) settle(ctx context.Context, c *task, err error) {
	c.failed = err != nil && ctx.Err() == nil
	l.memories[c.pod.UID] = c.memory
	if !c.failed {
		l.failures = 0
		return
	}
	l.failures++
	l.Metrics.PendingError(c.job, metrics.PendingCall)
	klog.FromContext(ctx).Error(err, "Will try again to end a pod that does not start")
	l.once(c, recorder.ReasonFailedDelete, func() {
		l.event(c, corev1.EventTypeWarning, recorder.ReasonFailedDelete, "Error deleting: "+err.Error())
	})
}

// once records at most one event of each kind for a pod.
func (l *pass) once(c *task, kind string, record func()) {
	if !c.recorded[kind] {
		record()
	}
	if c.recorded == nil {
		c.recorded = map[string]bool{}
	}
	c.recorded[kind] = true
	l.memories[c.pod.UID] = c.memory
}

func (l *pass) event(c *task, kind, reason, note string) {
	l.Recorder.Eventf(c.job, c.pod, kind, reason, eventAction, "%s", note)
}
