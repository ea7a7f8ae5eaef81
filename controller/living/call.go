package living

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Reasons of the events about living pods. The events are about the Jobs, because those remain.
const (
	reasonEnded     = "PodEndedByPolicy"
	reasonRemoved   = "LostPodRemoved"
	reasonAudited   = "PodWouldBeEnded"
	reasonRuleError = "LivingRuleError"
)

// eventAction is the action of these events.
const eventAction = "EndLivingPod"

const (
	// maxTries is the maximum number of calls in a pass to end a pod that changes in the meantime.
	maxTries = 8
	// strictTries is the number of these calls that require the pod to be unchanged since it was read. For a running pod, the others do
	// not, because a pod that is changed often enough would escape. A pending pod may start, and a terminating pod may end.
	strictTries = 5
)

// carryOut carries out the decision on a pod.
func (p *pass) carryOut(ctx context.Context, t *task) {
	switch t.Step {
	case binding.EndLiving:
		p.end(ctx, t)
	case binding.WithdrawLiving:
		_, err := p.setStatus(ctx, t.pod, t.Conditions, "")
		p.settle(ctx, t, err)
	case binding.AuditLiving:
		p.once(t, reasonAudited, func() {
			p.Count(t.job, t.Phase, t.Verdict, metrics.LivingAudited)
			p.event(t, corev1.EventTypeNormal, reasonAudited, t.Note(t.job)+"; the pod is not ended: "+t.Reason)
		})
	case binding.TellLiving:
		p.once(t, reasonRuleError, func() {
			p.Metrics.LivingError(t.job, metrics.LivingRule)
			p.event(t, corev1.EventTypeWarning, reasonRuleError, t.Verdict.Err.Error())
		})
	case binding.LeaveLiving:
	}
}

// end ends the pod. It decides again before each call. A pod that has changed is read and evaluated again, because its owner may change it
// repeatedly.
func (p *pass) end(ctx context.Context, t *task) {
	p.budget--
	pod := p.Caches.Pod(nameOf(t.pod))
	var err error
	for try := range maxTries {
		if !p.stillEnds(ctx, t, pod) {
			p.settle(ctx, t, nil)
			return
		}
		if try >= strictTries && t.Phase == corev1.PodRunning {
			t.pod = ofAnyVersion(t.pod)
		}
		if pod, err = p.step(ctx, t); apierrors.IsConflict(err) {
			pod, err = p.read(ctx, nameOf(t.pod))
		}
		if err != nil {
			p.settle(ctx, t, err)
			return
		}
	}
	t.due = p.Clock.Now().Add(p.Period)
}

// ofAnyVersion returns the pod without a resource version, so that calls only require the same UID.
func ofAnyVersion(pod *corev1.Pod) *corev1.Pod {
	same := *pod
	same.ResourceVersion = ""
	return &same
}

// stillEnds evaluates the present state of a pod again, and reports whether it is to be ended.
func (p *pass) stillEnds(ctx context.Context, t *task, pod *corev1.Pod) bool {
	now := p.taskOf(ctx, pod)
	if now == nil || now.entry != t.entry || now.Step != binding.EndLiving {
		return false
	}
	*t = *now
	return true
}

// read returns the pod from the API server, or nil if it is gone.
func (p *pass) read(ctx context.Context, name types.NamespacedName) (*corev1.Pod, error) {
	pod, err := p.Client.CoreV1().Pods(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // it needs no call
	case err != nil:
		return nil, fmt.Errorf("read pod %s: %w", name, err)
	}
	return caches.Trimmed(pod), nil
}

// step makes the next call to end a pod. A pod that is not terminating gets the conditions first. It returns the pod with which to
// continue, or nil if the pod has ended. The error is a conflict if the pod has changed.
func (p *pass) step(ctx context.Context, t *task) (_ *corev1.Pod, err error) {
	phase, reason, result := t.Phase, reasonEnded, metrics.LivingEnded
	switch phase {
	case v1alpha1.PhaseTerminating:
		_, err = p.setStatus(ctx, t.pod, t.Conditions, corev1.PodFailed)
	case corev1.PodFailed:
		phase, reason, result = v1alpha1.PhaseTerminating, reasonRemoved, metrics.LivingRemoved
		err = p.deletePod(ctx, t.pod, new(int64(0)))
	default:
		var marked *corev1.Pod
		if marked, err = p.setStatus(ctx, t.pod, t.Conditions, ""); err != nil || marked != t.pod {
			return marked, err
		}
		err = p.deletePod(ctx, t.pod, nil)
	}
	if err != nil {
		return nil, err
	}
	p.Count(t.job, phase, t.Verdict, result)
	p.event(t, corev1.EventTypeWarning, reason, t.Note(t.job))
	klog.FromContext(ctx).V(2).Info("Ended a pod", "pod", klog.KObj(t.pod), "phase", phase, "result", result, "binding", t.Binding, "because", t.Verdict.Message())
	return nil, nil //nolint:nilnil // it has ended
}

// setStatus sets conditions, and the phase unless it is empty, if the pod still has the same version. It returns the pod.
func (p *pass) setStatus(ctx context.Context, pod *corev1.Pod, conditions []corev1.PodCondition, phase corev1.PodPhase) (*corev1.Pod, error) {
	status := map[string]any{}
	if missing := p.missing(pod, conditions); len(missing) > 0 {
		status["conditions"] = missing // conditions are merged by type
	}
	if phase != "" {
		status["phase"] = phase
	}
	if len(status) == 0 {
		return pod, nil
	}
	metadata := map[string]any{"uid": pod.UID}
	if pod.ResourceVersion != "" {
		metadata["resourceVersion"] = pod.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "status": status})
	if err != nil {
		return nil, err
	}
	returned, err := p.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return nil, fmt.Errorf("set the condition %s of pod %s/%s: %w", conditions[0].Type, pod.Namespace, pod.Name, err)
	}
	return caches.Trimmed(returned), nil
}

// missing returns the conditions that the pod does not have yet, with their transition times.
func (p *pass) missing(pod *corev1.Pod, conditions []corev1.PodCondition) (missing []corev1.PodCondition) {
	for _, c := range conditions {
		c.LastTransitionTime = metav1.NewTime(p.Clock.Now())
		i := slices.IndexFunc(pod.Status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type && old.Status == c.Status })
		if i >= 0 {
			old := pod.Status.Conditions[i]
			if c.Reason == old.Reason && c.Message == old.Message {
				continue
			}
			c.LastTransitionTime = old.LastTransitionTime
		}
		missing = append(missing, c)
	}
	return missing
}

// deletePod deletes the pod if it still has the same version.
func (p *pass) deletePod(ctx context.Context, pod *corev1.Pod, grace *int64) error {
	options := metav1.DeleteOptions{GracePeriodSeconds: grace, Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if pod.ResourceVersion != "" {
		options.Preconditions.ResourceVersion = &pod.ResourceVersion
	}
	if err := p.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options); err != nil {
		return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// settle records whether the calls for a pod failed. A pod whose call failed is handled again after one period, after all others, and its
// failure is recorded once. A pod that has changed or is gone is not a failure.
func (p *pass) settle(ctx context.Context, t *task, err error) {
	t.failed = err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err)
	if !t.failed {
		p.failures = 0
		return
	}
	p.failures++
	t.due = p.Clock.Now().Add(p.Period)
	p.Metrics.LivingError(t.job, metrics.LivingCall)
	klog.FromContext(ctx).Error(err, "Will try again to end a pod")
	p.once(t, recorder.ReasonFailedDelete, func() {
		p.event(t, corev1.EventTypeWarning, recorder.ReasonFailedDelete, "Error deleting: "+err.Error())
	})
}

// once records at most one event of each kind for a pod.
func (p *pass) once(t *task, kind string, record func()) {
	if !slices.Contains(t.recorded, kind) {
		t.recorded = append(t.recorded, kind)
		record()
	}
}

func (p *pass) event(t *task, kind, reason, note string) {
	p.Recorder.Eventf(t.job, t.pod, kind, reason, eventAction, "%s", note)
}
