package podstate

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Cause classifies what a Pod waits for.
type Cause string

// The causes.
const (
	// Gated means that the Pod has scheduling gates, which their owner must remove.
	Gated Cause = "SchedulingGates"
	// Unscheduled means that no node has been found for the Pod.
	Unscheduled Cause = "Scheduling"
	// Starting means that a container cannot start.
	Starting Cause = "ContainerStart"
	// Initializing means that the Pod waits for an init container, or for a sidecar that has not started.
	Initializing Cause = "InitContainer"
	// Creating means that the preparation of volumes, network or images has lasted longer than usual.
	Creating Cause = "ContainerCreation"
	// Deleted means that the Pod was deleted, but still exists.
	Deleted Cause = "Deletion"
	// Lost means that the kubelet does not report on the Pod.
	Lost Cause = "Kubelet"
)

// Wait describes what a Pod that has not ended waits for. Its JSON form is a contract with other programs.
type Wait struct {
	Cause Cause `json:"cause"`
	// Container is the container that cannot start, or that the Pod waits for.
	Container string `json:"container,omitempty"`
	// Reason and Message are those of the container's state or of the Pod's condition.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is the time at which the wait began, if known. For a deletion, it is the time at which the Pod was deleted.
	Since *metav1.Time `json:"since,omitempty"`
	// Until is the time at which the grace period of a deletion ends.
	Until *metav1.Time `json:"until,omitempty"`
	// Node is the Pod's node, if it is relevant. NodeState is NotReady, Unreachable or Gone, or "" if the node is ready or unknown.
	Node      string `json:"node,omitempty"`
	NodeState string `json:"nodeState,omitempty"`
	// Finalizers holds the finalizers that keep the Pod after it has ended, except the Job controller's.
	Finalizers []string `json:"finalizers,omitempty"`
	// Gates holds the Pod's scheduling gates.
	Gates []string `json:"gates,omitempty"`
}

// Node is the node of a Pod. Known reports whether Object would be set if the node existed.
type Node struct {
	Object *corev1.Node
	Known  bool
}

// soon is the maximum time that the creation of containers usually needs.
const soon = time.Minute

// Of returns what a Pod waits for, or nil if it has ended, or runs or starts as usual.
func Of(pod *corev1.Pod, node Node, now time.Time) *Wait {
	switch phase := pod.Status.Phase; {
	case phase == corev1.PodFailed || phase == corev1.PodSucceeded:
		return nil
	case pod.DeletionTimestamp != nil:
		return deletion(pod, node)
	case phase == corev1.PodUnknown:
		return &Wait{Cause: Lost, Reason: pod.Status.Reason, Message: pod.Status.Message, Node: pod.Spec.NodeName, NodeState: node.state()}
	case len(pod.Spec.SchedulingGates) > 0:
		w := &Wait{Cause: Gated, Since: created(pod)}
		for _, gate := range pod.Spec.SchedulingGates {
			w.Gates = append(w.Gates, gate.Name)
		}
		return w
	}
	if c := conditionOf(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return &Wait{Cause: Unscheduled, Reason: c.Reason, Message: c.Message, Since: timeOf(c.LastTransitionTime)}
	}
	if w := waitingContainer(pod); w != nil {
		return w
	}
	if start := startOf(pod); pod.Status.Phase == corev1.PodPending && !start.IsZero() && now.Sub(start) > soon && isCreating(pod) {
		cause := Creating
		if pod.Spec.NodeName == "" && pod.Status.StartTime == nil {
			cause = Unscheduled
		}
		return &Wait{Cause: cause, Since: timeOf(metav1.NewTime(start)), Node: pod.Spec.NodeName}
	}
	return nil
}

// deletion describes a Pod that was deleted. The API server sets DeletionTimestamp to the end of the grace period.
func deletion(pod *corev1.Pod, node Node) *Wait {
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
	w := &Wait{
		Cause: Deleted, Since: new(metav1.NewTime(pod.DeletionTimestamp.Add(-grace))), Until: pod.DeletionTimestamp,
		Node: pod.Spec.NodeName, NodeState: node.state(),
	}
	if c := conditionOf(pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		w.Reason, w.Message = c.Reason, c.Message
	}
	for _, finalizer := range pod.Finalizers {
		if finalizer != jobTracking {
			w.Finalizers = append(w.Finalizers, finalizer)
		}
	}
	return w
}

// jobTracking is the finalizer that the Job controller removes from Pods that have ended.
const jobTracking = "batch.kubernetes.io/job-tracking"

// state returns the state that keeps a node from ending a Pod, or "".
func (n Node) state() string {
	if n.Object == nil {
		if n.Known {
			return "Gone"
		}
		return ""
	}
	for _, c := range n.Object.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionUnknown:
			return "Unreachable"
		case c.Status == corev1.ConditionFalse:
			return "NotReady"
		}
	}
	return ""
}

// waitingContainer describes the first container that cannot start, or the running init container. It skips crashing containers, because
// packages failure and restart describe those.
func waitingContainer(pod *corev1.Pod) *Wait {
	for _, status := range pod.Status.InitContainerStatuses {
		if w := cannotStart(pod, status); w != nil {
			return w
		}
		if isSidecar(pod, status.Name) {
			if !ptr.Deref(status.Started, false) && status.State.Running != nil && pod.Status.Phase == corev1.PodPending {
				return &Wait{Cause: Initializing, Container: status.Name, Since: timeOf(status.State.Running.StartedAt)}
			}
			continue
		}
		if r := status.State.Running; r != nil {
			return &Wait{Cause: Initializing, Container: status.Name, Since: timeOf(r.StartedAt)}
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if w := cannotStart(pod, status); w != nil {
			return w
		}
	}
	return nil
}

// usualReasons holds the reasons of containers that wait only briefly, or have crashed.
var usualReasons = []string{"", "ContainerCreating", "PodInitializing", "CrashLoopBackOff"}

func cannotStart(pod *corev1.Pod, status corev1.ContainerStatus) *Wait {
	waiting := status.State.Waiting
	if waiting == nil || slices.Contains(usualReasons, waiting.Reason) {
		return nil
	}
	w := &Wait{
		Cause: Starting, Container: status.Name, Reason: waiting.Reason, Message: waiting.Message,
		Since: timeOf(metav1.NewTime(startOf(pod))),
	}
	if last := status.LastTerminationState.Terminated; last != nil {
		w.Since = timeOf(last.FinishedAt)
	}
	return w
}

// isCreating reports whether every container waits or has terminated.
func isCreating(pod *corev1.Pod) bool {
	statuses := append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...)
	return !slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil && s.State.Terminated == nil })
}

func isSidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
	})
}

// startOf returns the time at which the kubelet acknowledged the Pod, or else its creation time.
func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

func created(pod *corev1.Pod) *metav1.Time { return timeOf(pod.CreationTimestamp) }

func timeOf(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

func (w *Wait) message() string { return join(w.Reason, w.Message) }
