package controller_test

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// fate returns the outcome of an attempt at a slot: an exit code, or one of the constants below.
type fate func(slot, attempt int) int32

const (
	// runs is the fate of a pod that does not end by itself.
	runs int32 = -1
	// evicted is the fate of a pod that is disrupted and deleted while it runs.
	evicted int32 = -2
	// stuck is the fate of a pod whose image cannot be pulled.
	stuck int32 = -3
	// restarts is the fate of a pod whose container restarts in place repeatedly.
	restarts int32 = -4
)

// kubelet runs pods. It also acts as the scheduler and the pod garbage collector.
type kubelet struct {
	server *memoryapi.Server
	fate   fate
	lives  *lives // nil in a cluster without rules on living pods
}

// idle reports whether the pod remains unchanged unless another client changes it.
func (k kubelet) idle(p *corev1.Pod) bool {
	switch {
	case k.cut(p):
		return p.DeletionTimestamp != nil
	case terminal(p):
		return p.DeletionTimestamp == nil || ptr.Deref(p.DeletionGracePeriodSeconds, 0) == 0
	case p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning:
		return k.fateOf(p) == runs
	case p.DeletionTimestamp == nil && p.Spec.NodeName == "":
		return k.nodeFor(p) == ""
	case p.DeletionTimestamp == nil && len(p.Status.ContainerStatuses) > 0:
		return k.fateOf(p) == stuck
	default:
		return false
	}
}

// nodeFor returns the node that the scheduler selects for a pod, or an empty string.
func (k kubelet) nodeFor(p *corev1.Pod) string {
	slot, attempt, _ := slotAndAttempt(p)
	if k.lives == nil {
		return "node-" + strconv.Itoa((slot+2*attempt)%3)
	}
	for i := range 2 {
		if name := "node-" + strconv.Itoa((slot+attempt+i)%2); now(k.lives.nodes[name]) {
			return name
		}
	}
	return ""
}

// cut reports whether the pod's node is lost, so that its kubelet does nothing with the pod.
func (k kubelet) cut(p *corev1.Pod) bool {
	return k.lives != nil && p.Spec.NodeName != "" && !now(k.lives.nodes[p.Spec.NodeName])
}

func (k kubelet) fateOf(p *corev1.Pod) int32 {
	slot, attempt, made := slotAndAttempt(p)
	if !made {
		return 0 // not created by the controller
	}
	return k.fate(slot, attempt)
}

// move moves the pod to its next stage.
func (k kubelet) move(p *corev1.Pod) {
	switch deleted := p.DeletionTimestamp != nil; {
	case k.idle(p):
	case k.cut(p): // evicted because of the taint of its node
		_ = k.server.DeletePod(p.Namespace, p.Name, -1) // it exists
	case terminal(p):
		_ = k.server.DeletePod(p.Namespace, p.Name, 0) // it exists
	case deleted:
		k.end(p, podstatus.CodeKilled)
	case p.Status.Phase == corev1.PodPending:
		k.server.ChangePod(p.Namespace, p.Name, func(p *corev1.Pod) {
			now := metav1.Now().Rfc3339Copy()
			if p.Spec.NodeName = k.nodeFor(p); k.fateOf(p) == stuck {
				podstatus.Wait(p, podstatus.ReasonImagePullBackOff, "", now)
			} else {
				podstatus.Start(p, now)
			}
		})
	case k.fateOf(p) == evicted:
		k.evict(p)
	case k.fateOf(p) == restarts:
		k.server.ChangePod(p.Namespace, p.Name, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
	default:
		k.end(p, k.fateOf(p))
	}
}

// end ends a pod whose container has exited with the given code.
func (k kubelet) end(p *corev1.Pod, code int32) {
	k.server.ChangePod(p.Namespace, p.Name, func(p *corev1.Pod) {
		reason := ""
		if code == codeOOM {
			reason = podstatus.ReasonOOMKilled
		}
		podstatus.Start(p, metav1.Now().Rfc3339Copy())
		podstatus.Containers(p)[0].Exit(code, reason, metav1.Now())
		podstatus.End(p, metav1.Now())
	})
}

// evict disrupts a pod as the eviction API does.
func (k kubelet) evict(p *corev1.Pod) {
	k.server.ChangePod(p.Namespace, p.Name, func(p *corev1.Pod) { podstatus.EvictedByAPI.Write(p, metav1.Now()) })
	_ = k.server.DeletePod(p.Namespace, p.Name, -1) // it exists
}

// busy returns the pods that can change: first pods that can start, then by slot.
func (k kubelet) busy() []*corev1.Pod {
	busy := slices.DeleteFunc(k.server.Pods(), k.idle)
	rank := func(p *corev1.Pod) int {
		slot, _, _ := slotAndAttempt(p)
		if p.Status.Phase != corev1.PodPending {
			slot += 1 << 20
		}
		return slot
	}
	slices.SortStableFunc(busy, func(a, b *corev1.Pod) int { return rank(a) - rank(b) })
	return busy
}

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func active(p *corev1.Pod) bool { return !terminal(p) && p.DeletionTimestamp == nil }

func held(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) }

// slotAndAttempt returns the slot and the attempt of a pod created by the controller. Attempts are counted from 0.
func slotAndAttempt(p *corev1.Pod) (slot, attempt int, made bool) {
	slot, attempt, made = plan.Place(p)
	return slot, attempt - 1, made
}
