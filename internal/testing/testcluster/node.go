package testcluster

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// A Node is a machine with a simulated kubelet. When its kubelet stops, the containers continue.
type Node struct {
	Name string

	client kubernetes.Interface
	script Script

	mu      sync.Mutex // protects the fields below; nothing is written while a test holds it
	stopped bool
	beats   int // number since the kubelet has started
	last    time.Time
	pods    map[types.UID]*corev1.Pod // with the statuses known to this kubelet
}

// A Script returns the behaviour of the only container of a Pod. It is called repeatedly.
type Script func(pod *corev1.Pod) Act

// An Act is the behaviour of a container. With the zero Act it runs until the Pod is deleted.
type Act struct {
	// Waiting is the reason why the container does not start.
	Waiting string
	// Ends makes the container exit with the code, for the reason. It restarts if its restart rules say so.
	Ends   bool
	Code   int32
	Reason string
	// Hangs keeps the container running although the Pod is deleted.
	Hangs bool
}

// gates are the gates of KEP-5307, with which containers restart in place.
var gates = restart.Gates{Rules: true}

const (
	// heartbeat is the period in which a node renews its lease.
	heartbeat = time.Second
	// statusBeats is the number of heartbeats after which it also writes its status, which it does more often at its
	// start.
	statusBeats = 30
)

// PlayNode creates a node with the labels, and simulates its kubelet until the test ends. Without a script the node is
// ready, and the test writes the status of its Pods.
func PlayNode(t testing.TB, client kubernetes.Interface, name string, labels map[string]string, script Script) *Node {
	t.Helper()
	n := &Node{Name: name, client: client, script: script, pods: map[types.UID]*corev1.Pod{}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1000"), corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("10Ti")}
	node.Status.Capacity, node.Status.Conditions = node.Status.Allocatable, []corev1.NodeCondition{nodeReady()}
	made, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Node", Name: name, UID: made.UID},
	}}}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &name, &metav1.MicroTime{Time: time.Now()}
	if _, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-ended
		if err := client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			if err := n.sync(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	return n
}

func nodeReady() corev1.NodeCondition {
	return corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}
}

// Stop stops the kubelet: the node does not renew its lease, and does not start, end or report containers.
func (n *Node) Stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = true
}

// Resume starts the kubelet again. It ends the containers of Pods that have ended or were deleted meanwhile.
func (n *Node) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped, n.beats = false, 0
}

// sync runs one iteration of the kubelet.
func (n *Node) sync(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped {
		return nil
	}
	if err := ignoreChanged(n.beat(ctx)); err != nil || n.script == nil {
		return err
	}
	cached := metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.Name, ResourceVersion: "0"}
	pods, err := n.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, cached)
	if err != nil {
		return err
	}
	for uid := range n.pods {
		if !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return pod.UID == uid }) {
			delete(n.pods, uid) // the kubelet kills containers without a Pod
		}
	}
	for i := range pods.Items {
		if err := ignoreChanged(n.syncPod(ctx, &pods.Items[i])); err != nil {
			return err
		}
	}
	return nil
}

func ignoreChanged(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// beat renews the lease, and writes the status of the node after the kubelet has started, because the node was not ready.
func (n *Node) beat(ctx context.Context) error {
	if time.Since(n.last) < heartbeat {
		return nil
	}
	n.last = time.Now()
	lease, err := json.Marshal(map[string]any{"spec": coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: n.last}}})
	if err != nil {
		return err
	}
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if _, err := leases.Patch(ctx, n.Name, types.MergePatchType, lease, metav1.PatchOptions{}); err != nil {
		return err
	}
	n.beats++
	if n.beats > 3 && n.beats%statusBeats != 0 {
		return nil
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{nodeReady()}}})
	if err != nil {
		return err
	}
	_, err = n.client.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// syncPod behaves like the pod workers and the status manager of the kubelet (pkg/kubelet of v1.37.2): Pods that have
// ended in the API server are ended, and deleted Pods are ended before they are removed.
func (n *Node) syncPod(ctx context.Context, pod *corev1.Pod) error {
	known := n.pods[pod.UID]
	if known == nil {
		known = &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
		n.pods[pod.UID] = known
	}
	main, now, act := podstatus.Containers(known)[0], metav1.Now(), n.script(pod)
	state := main.Status.State
	deleted := pod.DeletionTimestamp != nil && !act.Hangs
	terminal := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	switch {
	case terminal && deleted && *pod.DeletionGracePeriodSeconds > 0:
		atOnce := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
		return n.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, atOnce)
	case terminal, state.Terminated != nil:
		return nil
	case deleted:
		if state.Running != nil {
			main.Exit(podstatus.CodeTerminated, "", now)
		}
		podstatus.End(known, now)
	case state.Running == nil && act.Waiting != "":
		if state.Waiting != nil {
			return nil
		}
		podstatus.Wait(known, act.Waiting, "", now)
	case state.Running == nil:
		podstatus.Start(known, now)
	case act.Ends && restart.Decide(main.Container, &pod.Spec, act.Code, gates).Action != restart.None:
		main.Exit(act.Code, act.Reason, now)
		main.Status.LastTerminationState, main.Status.RestartCount = main.Status.State, main.Status.RestartCount+1
		main.Run(now)
		podstatus.ReportRunning(known, gates, now)
	case act.Ends:
		main.Exit(act.Code, act.Reason, now)
		podstatus.End(known, now)
	default:
		return nil
	}
	return n.write(ctx, known)
}

// write patches the status of a Pod. It keeps conditions that are not the kubelet's.
func (n *Node) write(ctx context.Context, known *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": known.UID},
		"status": map[string]any{
			"phase": known.Status.Phase, "startTime": known.Status.StartTime,
			"conditions": known.Status.Conditions, "containerStatuses": known.Status.ContainerStatuses,
		},
	})
	if err != nil {
		return err
	}
	_, err = n.client.CoreV1().Pods(known.Namespace).Patch(ctx, known.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
