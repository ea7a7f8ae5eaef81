package podstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cause is the reason why something other than its containers ends a Pod.
type Cause struct {
	// Reason and Message are the reason and message of the status. Only the kubelet writes them.
	Reason, Message string
	// Disruption and Detail are the reason and message of the condition DisruptionTarget. An empty Disruption means that there is no
	// condition.
	Disruption, Detail string
}

// Causes with constant texts.
var (
	DeadlineExceeded = Cause{Reason: "DeadlineExceeded", Message: "Pod was active on the node longer than the specified deadline"}

	PreemptedByScheduler = Cause{
		Disruption: corev1.PodReasonPreemptionByScheduler, Detail: "default-scheduler: preempting to accommodate a higher priority pod",
	}
	PreemptedByKubelet = Cause{
		"Preempting", "Preempted in order to admit critical pod",
		corev1.PodReasonTerminationByKubelet, "Pod was preempted by Kubelet to accommodate a critical pod.",
	}
	EvictedByAPI  = Cause{Disruption: "EvictionByEvictionAPI", Detail: "Eviction API: evicting"}
	Tainted       = Cause{Disruption: "DeletionByTaintManager", Detail: "Taint manager: deleting due to NoExecute taint"}
	DeviceTainted = Cause{Disruption: "DeletionByDeviceTaintManager", Detail: "Device Taint manager: deleting due to NoExecute taint"}
	// Orphaned is the cause with which Pod garbage collection ends a Pod whose node no longer exists. Pods that are deleted before they
	// have a node, and Pods on a node that is out of service, end without a condition.
	Orphaned     = Cause{Disruption: "DeletionByPodGC", Detail: "PodGC: node no longer exists"}
	NodeShutdown = Cause{
		"Terminated", "Pod was terminated in response to imminent node shutdown.",
		corev1.PodReasonTerminationByKubelet, "Pod was terminated in response to imminent node shutdown.",
	}
)

const reasonEvicted = "Evicted"

// LowOn returns the cause with which the kubelet evicts a Pod from a node that is low on a resource.
func LowOn(resource corev1.ResourceName, threshold, available string) Cause {
	message := fmt.Sprintf("The node was low on resource: %s. Threshold quantity: %s, available: %s. ", resource, threshold, available)
	return Cause{reasonEvicted, message, corev1.PodReasonTerminationByKubelet, message}
}

// LargestUser extends the cause of LowOn with a container that uses more of the resource than it requests.
func (c Cause) LargestUser(container, usage, request string, resource corev1.ResourceName) Cause {
	c.Message += fmt.Sprintf("Container %s was using %s, request is %s, has larger consumption of %s. ", container, usage, request, resource)
	c.Detail = c.Message
	return c
}

// VolumeOverLimit returns the cause with which the kubelet evicts a Pod that fills an emptyDir.
func VolumeOverLimit(volume, limit string) Cause {
	return Cause{Reason: reasonEvicted, Message: fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", volume, limit)}
}

// StorageOverLimit returns the cause with which the kubelet evicts a Pod with a container that writes too much.
func StorageOverLimit(container, limit string) Cause {
	return Cause{Reason: reasonEvicted, Message: fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", container, limit)}
}

// Write writes the cause into the status.
func (c Cause) Write(pod *corev1.Pod, at metav1.Time) {
	if c.Reason != "" {
		pod.Status.Reason, pod.Status.Message = c.Reason, c.Message
	}
	if c.Disruption != "" {
		SetCondition(pod, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: c.Disruption, Message: c.Detail,
		}, at)
	}
}

// MarkNotReady makes the same change as the node controller for a Pod on a node that does not respond
// (pkg/controller/util/node/controller_utils.go).
func MarkNotReady(pod *corev1.Pod, at metav1.Time) {
	if ready := find(pod.Status.Conditions, corev1.PodReady); ready != nil && ready.Status != corev1.ConditionFalse {
		ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, at
	}
}

// Reject writes the status of a Pod that the kubelet does not admit. It has neither containers nor conditions.
func Reject(pod *corev1.Pod, reason, message string, at metav1.Time) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: "Pod was rejected: " + message, StartTime: &at}
}

// RejectOutOf rejects a Pod because the node has too little of a resource left. For cpu, the numbers are in thousandths.
func RejectOutOf(pod *corev1.Pod, resource string, requested, used, capacity int, at metav1.Time) {
	Reject(pod, "OutOf"+resource, fmt.Sprintf(
		"Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", resource, requested, used, capacity), at)
}

// The scheduler's reasons for not placing a Pod on a node.
const (
	InsufficientCPU = "Insufficient cpu"
	Unscheduled     = "node(s) were unschedulable"
	Untolerated     = "node(s) had untolerated taint(s)"
	NoAffinity      = "node(s) didn't match Pod's node affinity/selector"
)

// Unschedulable writes the status of a Pod for which the scheduler finds no node, given the number of nodes for each reason.
func Unschedulable(pod *corev1.Pod, nodes map[string]int, at metav1.Time) {
	preemption := map[string]int{}
	for reason, number := range nodes {
		if reason == InsufficientCPU {
			preemption["No preemption victims found for incoming pod"] += number
		} else {
			preemption["Preemption is not helpful for scheduling"] += number
		}
	}
	notScheduled(pod, corev1.PodReasonUnschedulable, unavailable(nodes)+" preemption: "+unavailable(preemption), at)
}

// unavailable returns the scheduler's message about nodes (FitError in pkg/scheduler/framework/types.go).
func unavailable(nodes map[string]int) string {
	total, texts := 0, []string(nil)
	for reason, number := range nodes {
		if number > 0 {
			total, texts = total+number, append(texts, fmt.Sprintf("%d %s", number, reason))
		}
	}
	slices.Sort(texts)
	return fmt.Sprintf("0/%d nodes are available: %s.", total, strings.Join(texts, ", "))
}

// Gate writes the status of a Pod with scheduling gates.
func Gate(pod *corev1.Pod, at metav1.Time) {
	notScheduled(pod, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates", at)
}

func notScheduled(pod *corev1.Pod, reason, message string, at metav1.Time) {
	pod.Status.Phase = corev1.PodPending
	SetCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}, at)
}
