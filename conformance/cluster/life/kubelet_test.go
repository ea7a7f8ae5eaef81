package life

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// past is how long ago pods have ended if no back-off is wanted. It is longer than any back-off.
const past = time.Hour

// stopped is the exit code of a container ended by SIGTERM.
const stopped = 143

// start runs a pod.
func (p *player) start(ctx context.Context, pod *corev1.Pod, ready bool) error {
	if err := p.bind(ctx, pod); err != nil {
		return err
	}
	return p.updateStatus(ctx, pod, func(pod *corev1.Pod) {
		now := metav1.Now()
		pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
		setStatuses(pod, func(c *corev1.ContainerStatus, initial bool) {
			c.Ready, c.Started = ready && !initial, &ready
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
			if initial {
				c.State = terminated(0, now)
			}
		})
		setCondition(pod, corev1.PodReady, statusOfBool(ready), now)
	})
}

// bind places a pod on the node, unless it has a node or is being deleted.
func (p *player) bind(ctx context.Context, pod *corev1.Pod) error {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return nil
	}
	err := p.Client.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: p.Node},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) { // bound earlier, but the watch lags
		return nil
	}
	return err
}

// exit ends a pod.
func (p *player) exit(ctx context.Context, pod *corev1.Pod, end *Exit) error {
	if err := p.bind(ctx, pod); err != nil {
		return err
	}
	return p.updateStatus(ctx, pod, func(pod *corev1.Pod) { end.write(pod, time.Now()) })
}

// write sets the kubelet's final status of a pod.
func (e *Exit) write(pod *corev1.Pod, now time.Time) {
	ended := metav1.NewTime(now)
	if !e.Now {
		ended = metav1.NewTime(now.Add(-past))
	}
	codes := e.codes(pod)
	pod.Status.Phase = corev1.PodSucceeded
	if codes == nil {
		pod.Status.Phase = corev1.PodFailed
	} else {
		setStatuses(pod, func(c *corev1.ContainerStatus, _ bool) {
			c.Ready, c.State = false, terminated(codes[c.Name], ended)
			if codes[c.Name] != 0 {
				pod.Status.Phase = corev1.PodFailed
			}
		})
	}
	setCondition(pod, corev1.PodReady, corev1.ConditionFalse, ended)
	for _, condition := range e.Conditions {
		setCondition(pod, condition, corev1.ConditionTrue, ended)
	}
}

// codes returns the exit codes other than 0 by container, or nil if no container has run.
func (e *Exit) codes(pod *corev1.Pod) map[string]int32 {
	if e.Code != nil {
		return map[string]int32{pod.Spec.Containers[0].Name: *e.Code}
	}
	return e.Codes
}

// stop ends a pod that is being deleted, and completes its deletion.
func (p *player) stop(ctx context.Context, pod *corev1.Pod, end *Exit) error {
	if end.Code == nil && len(end.Codes) == 0 {
		code := int32(stopped)
		end = &Exit{Code: &code, Conditions: end.Conditions, Now: end.Now}
	}
	err := p.updateStatus(ctx, pod, func(pod *corev1.Pod) { end.write(pod, time.Now()) })
	if err != nil {
		return err
	}
	return p.remove(ctx, pod, true)
}

// remove deletes a pod.
func (p *player) remove(ctx context.Context, pod *corev1.Pod, force bool) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
	if force {
		options.GracePeriodSeconds = new(int64)
	}
	err := p.Client.CoreV1().Pods(p.Namespace).Delete(ctx, pod.Name, options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// evict evicts a pod through the API.
func (p *player) evict(ctx context.Context, pod *corev1.Pod) error {
	return p.Client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
	})
}

// restart reports a restart of the first container.
func (p *player) restart(ctx context.Context, pod *corev1.Pod, count int32) error {
	if err := p.bind(ctx, pod); err != nil {
		return err
	}
	return p.updateStatus(ctx, pod, func(pod *corev1.Pod) {
		now := metav1.Now()
		pod.Status.Phase = corev1.PodRunning
		setStatuses(pod, func(c *corev1.ContainerStatus, initial bool) {
			if c.Name != pod.Spec.Containers[0].Name || initial {
				return
			}
			c.RestartCount, c.LastTerminationState = count, terminated(1, now)
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		})
	})
}

// updateStatus updates the status of a pod as the kubelet does.
func (p *player) updateStatus(ctx context.Context, pod *corev1.Pod, change func(*corev1.Pod)) error {
	pods := p.Client.CoreV1().Pods(p.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		fresh, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(fresh)
		_, err = pods.UpdateStatus(ctx, fresh, metav1.UpdateOptions{})
		return err
	})
}

// setStatuses changes the statuses of all containers, and creates missing ones.
func setStatuses(pod *corev1.Pod, change func(c *corev1.ContainerStatus, initial bool)) {
	for _, list := range []struct {
		initial    bool
		containers []corev1.Container
		statuses   *[]corev1.ContainerStatus
	}{
		{true, pod.Spec.InitContainers, &pod.Status.InitContainerStatuses},
		{false, pod.Spec.Containers, &pod.Status.ContainerStatuses},
	} {
		for _, c := range list.containers {
			i := slices.IndexFunc(*list.statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
			if i < 0 {
				i = len(*list.statuses)
				*list.statuses = append(*list.statuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image})
			}
			change(&(*list.statuses)[i], list.initial)
		}
	}
}

// setCondition replaces the condition of the type, or adds it.
func setCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, at metav1.Time) {
	condition := corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: at}
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return
	}
	pod.Status.Conditions[i] = condition
}

func statusOfBool(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

func terminated(code int32, at metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: at, FinishedAt: at}}
}

func TestExit(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	status := func(name string, code int32, at time.Time) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: terminated(code, metav1.NewTime(at))}
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, at time.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at)}
	}
	for name, test := range map[string]struct {
		exit Exit
		want corev1.PodStatus
	}{
		"success": {Exit{Code: new(int32), Now: true}, corev1.PodStatus{
			Phase:                 corev1.PodSucceeded,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 0, now)},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 0, now), status("log", 0, now)},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now)},
		}},
		"failure, an hour ago": {Exit{Code: new(int32(3))}, corev1.PodStatus{
			Phase:                 corev1.PodFailed,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 0, now.Add(-past))},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 3, now.Add(-past)), status("log", 0, now.Add(-past))},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now.Add(-past))},
		}},
		"failure of an init container": {Exit{Codes: map[string]int32{"prepare": 4}, Now: true}, corev1.PodStatus{
			Phase:                 corev1.PodFailed,
			InitContainerStatuses: []corev1.ContainerStatus{status("prepare", 4, now)},
			ContainerStatuses:     []corev1.ContainerStatus{status("main", 0, now), status("log", 0, now)},
			Conditions:            []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionFalse, now)},
		}},
		"without containers": {Exit{Conditions: []corev1.PodConditionType{"DisruptionTarget"}, Now: true}, corev1.PodStatus{
			Phase: corev1.PodFailed,
			Conditions: []corev1.PodCondition{
				condition(corev1.PodReady, corev1.ConditionFalse, now), condition("DisruptionTarget", corev1.ConditionTrue, now),
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "prepare"}},
					Containers:     []corev1.Container{{Name: "main"}, {Name: "log"}},
				},
				Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			}
			test.exit.write(pod, now)
			if diff := cmp.Diff(test.want, pod.Status); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
