package scenarios

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const messageLow = "The node was low on resource: "

// stopped are the scenarios in which a kubelet, the scheduler, a controller or a user ends the Pod before it is done.
var stopped = []Scenario{
	{
		"deadline-exceeded", corev1.PodFailed, "The Pod exceeded its activeDeadlineSeconds.",
		nothing, func(l *life) {
			l.exits(137, ReasonError)
			l.status("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
		},
	},
	{
		"evicted", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on memory.",
		nothing, func(l *life) { l.evicted(messageLow + "memory. Threshold quantity: 100Mi, available: 92Mi. ") },
	},
	{
		"evicted-disk", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on disk, of which the Pod used most.",
		nothing, func(l *life) {
			l.evicted(fmt.Sprintf(messageLow+"ephemeral-storage. Threshold quantity: 10Gi, available: 9216Mi. "+
				"Container %s was using 6Gi, request is 0, has larger consumption of ephemeral-storage. ", l.first().Name))
		},
	},
	{
		"evicted-pids", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on process ids.",
		nothing, func(l *life) { l.evicted(messageLow + "pids. Threshold quantity: 1000, available: 812. ") },
	},
	{
		"evicted-over-limit", corev1.PodFailed, "The kubelet evicted the Pod for using more of an emptyDir than its limit: no disruption.",
		nothing, func(l *life) {
			l.exits(137, ReasonError)
			l.status("Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". `)
		},
	},
	{
		"evicted-over-storage-limit", corev1.PodFailed, "The kubelet evicted the Pod because a container wrote more to disk than its limit: no disruption.",
		nothing, func(l *life) {
			l.exits(137, ReasonError)
			l.status("Evicted", fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", l.first().Name, "2Gi"))
		},
	},
	{
		"preempted", corev1.PodFailed, "The scheduler preempted the Pod.",
		nothing, func(l *life) {
			l.deleted(corev1.PodReasonPreemptionByScheduler, "default-scheduler: preempting to accommodate a higher priority pod")
		},
	},
	{
		"preempted-by-kubelet", corev1.PodFailed, "The kubelet ended the Pod to make room for a critical one.",
		nothing, func(l *life) {
			l.exits(143, ReasonError)
			l.status("Preempting", "Preempted in order to admit critical pod")
			l.disrupted(corev1.PodReasonTerminationByKubelet, "Pod was preempted by Kubelet to accommodate a critical pod.")
		},
	},
	{
		"drained", corev1.PodFailed, "The Pod was evicted by the API, as kubectl drain does.",
		nothing, func(l *life) {
			l.deleted("EvictionByEvictionAPI", "Eviction API: evicting")
			l.node.Spec.Unschedulable = true
			l.taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
		},
	},
	{
		"tainted", corev1.PodFailed, "The Pod was deleted because of a NoExecute taint of its node.",
		nothing, func(l *life) { l.deleted(reasonTaint, messageTaint) },
	},
	{
		"device-tainted", corev1.PodFailed, "The Pod was deleted because of a NoExecute taint of a device that it used.",
		nothing, func(l *life) {
			l.deleted("DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint")
		},
	},
	{
		"node-shutdown", corev1.PodFailed, "The node was shut down gracefully.",
		nothing, func(l *life) {
			const message = "Pod was terminated in response to imminent node shutdown."
			l.exits(143, ReasonError)
			l.status("Terminated", message)
			l.disrupted(corev1.PodReasonTerminationByKubelet, message)
		},
	},
	{
		"node-lost", corev1.PodFailed, "The node is gone, and the Pod was marked as failed: its containers still seem to run.",
		nothing, func(l *life) {
			l.lost()
			l.node = nil
			l.pod.Status.Phase = corev1.PodFailed
			l.disrupted("DeletionByPodGC", "PodGC: node no longer exists")
		},
	},
	{
		"node-out-of-service", corev1.PodFailed, "The node was tainted as out of service, and the Pod, which was being deleted, marked as failed: its containers still seem to run.",
		nothing, func(l *life) {
			l.unreachable()
			l.taint(corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute)
			l.pod.Status.Phase = corev1.PodFailed
		},
	},
	{
		"deleted", corev1.PodFailed, "The Pod was deleted by a user or a program, and the first container ended by SIGTERM: no disruption.",
		nothing, func(l *life) {
			l.exits(143, ReasonError)
			l.deletedWithin(30)
		},
	},
	{
		"deleted-before-start", corev1.PodFailed, "The Pod was deleted while its image was pulled: the first container seems to have ended with code 137.",
		nothing, func(l *life) {
			l.waits("ImagePullBackOff", "")
			for i := range l.pod.Status.ContainerStatuses[1:] {
				l.pod.Status.ContainerStatuses[1+i].State = corev1.ContainerState{Terminated: Terminated(143, ReasonError)}
			}
			l.endSidecars()
			l.first().State = corev1.ContainerState{Terminated: notLocated()}
			l.pod.Status.Phase = corev1.PodFailed
			l.condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", "")
			l.deletedWithin(30)
		},
	},
	{
		"deleted-unscheduled", corev1.PodFailed, "The Pod was deleted before the scheduler had found a node for it: no container.",
		nothing, func(l *life) {
			l.unscheduled(messageUnschedulable)
			l.pod.Status.Phase = corev1.PodFailed
			l.deletedWithin(0)
		},
	},
}

const (
	reasonTaint  = "DeletionByTaintManager"
	messageTaint = "Taint manager: deleting due to NoExecute taint"
)

// evicted ends the Pod as the kubelet does when its node is short of a resource.
func (l *life) evicted(message string) {
	l.exits(137, ReasonError)
	l.status("Evicted", message)
	l.disrupted(corev1.PodReasonTerminationByKubelet, message)
}

func (l *life) disrupted(reason, message string) {
	l.condition(corev1.DisruptionTarget, corev1.ConditionTrue, reason, message)
}

// deleted ends the Pod by a deletion because of a disruption.
func (l *life) deleted(reason, message string) {
	l.exits(143, ReasonError)
	l.disrupted(reason, message)
	l.deletedWithin(30)
}

// deletedWithin marks the Pod as deleted, with a grace period in seconds.
func (l *life) deletedWithin(grace int64) {
	l.pod.DeletionTimestamp = new(metav1.NewTime(ended))
	l.pod.DeletionGracePeriodSeconds = new(grace)
}
