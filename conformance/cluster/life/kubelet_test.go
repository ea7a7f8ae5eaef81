package life

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// past is the time since the end of pods if no back-off is wanted. It is longer than any back-off.
const past = time.Hour

// start runs a pod.
func (p *player) start(ctx context.Context, pod *corev1.Pod, ready bool) error {
	if err := p.bind(ctx, pod); err != nil {
		return err
	}
	return p.updateStatus(ctx, pod, func(pod *corev1.Pod) {
		now := metav1.Now()
		podstatus.Start(pod, now)
		for _, c := range podstatus.Containers(pod) {
			c.Status.Ready = ready || c.Init
		}
		podstatus.Report(pod, podstatus.SandboxReady, now)
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
	if codes := e.codes(pod); codes == nil {
		pod.Status.Phase = corev1.PodFailed
	} else {
		podstatus.StartInit(pod, failing(pod, codes), ended)
		for _, c := range podstatus.Containers(pod) {
			if c.Status.State.Running != nil {
				c.Exit(codes[c.Name], "", ended)
			}
		}
		podstatus.End(pod, ended)
	}
	for _, condition := range e.Conditions {
		podstatus.SetCondition(pod, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue}, ended)
	}
}

// codes returns the exit codes other than 0 by container, or nil if no container has run.
func (e *Exit) codes(pod *corev1.Pod) map[string]int32 {
	if e.Code != nil {
		return map[string]int32{pod.Spec.Containers[0].Name: *e.Code}
	}
	return e.Codes
}

// failing returns the name of the init container that fails, or an empty string.
func failing(pod *corev1.Pod, codes map[string]int32) string {
	for _, c := range podstatus.Containers(pod) {
		if c.Init && codes[c.Name] != 0 {
			return c.Name
		}
	}
	return ""
}

// stop ends a pod that is being deleted, and completes its deletion.
func (p *player) stop(ctx context.Context, pod *corev1.Pod, end *Exit) error {
	if end.Code == nil && len(end.Codes) == 0 {
		end = &Exit{Code: new(podstatus.CodeTerminated), Conditions: end.Conditions, Now: end.Now}
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
		podstatus.Start(pod, now)
		main := podstatus.Containers(pod)[len(pod.Spec.InitContainers)]
		main.Exit(1, "", now)
		main.Status.LastTerminationState, main.Status.RestartCount = main.Status.State, count
		main.Run(now)
		main.Status.Ready = false
		podstatus.ReportRunning(pod, restart.Gates{}, now)
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
