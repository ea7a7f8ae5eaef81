package scenarios

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// stopped holds the scenarios in which a kubelet, the scheduler, a controller or a user ends the Pod before it is done.
var stopped = []Scenario{
	{
		"deadline-exceeded", corev1.PodFailed, "The Pod exceeded its activeDeadlineSeconds.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeKilled, podstatus.DeadlineExceeded) },
	},
	{
		"evicted", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on memory.",
		nothing, func(l *life) {
			l.interrupted(podstatus.CodeKilled, podstatus.LowOn(corev1.ResourceMemory, "100Mi", "92Mi"))
		},
	},
	{
		"evicted-disk", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on disk, of which the Pod used most.",
		nothing, func(l *life) {
			low := podstatus.LowOn(corev1.ResourceEphemeralStorage, "10Gi", "9216Mi")
			l.interrupted(podstatus.CodeKilled, low.LargestUser(l.first().Name, "6Gi", "0", corev1.ResourceEphemeralStorage))
		},
	},
	{
		"evicted-pids", corev1.PodFailed, "The kubelet evicted the Pod because the node was low on process ids.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeKilled, podstatus.LowOn("pids", "1000", "812")) },
	},
	{
		"evicted-over-limit", corev1.PodFailed, "The kubelet evicted the Pod for using more of an emptyDir than its limit: no disruption.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeKilled, podstatus.VolumeOverLimit("scratch", "1Gi")) },
	},
	{
		"evicted-over-storage-limit", corev1.PodFailed, "The kubelet evicted the Pod because a container wrote more to disk than its limit: no disruption.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeKilled, podstatus.StorageOverLimit(l.first().Name, "2Gi")) },
	},
	{
		"preempted", corev1.PodFailed, "The scheduler preempted the Pod.",
		nothing, func(l *life) { l.deleted(podstatus.PreemptedByScheduler) },
	},
	{
		"preempted-by-kubelet", corev1.PodFailed, "The kubelet ended the Pod to make room for a critical one.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeTerminated, podstatus.PreemptedByKubelet) },
	},
	{
		"drained", corev1.PodFailed, "The Pod was evicted by the API, as kubectl drain does.",
		nothing, func(l *life) {
			l.deleted(podstatus.EvictedByAPI)
			l.node.Spec.Unschedulable = true
			l.taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
		},
	},
	{
		"tainted", corev1.PodFailed, "The Pod was deleted because of a NoExecute taint of its node.",
		nothing, func(l *life) { l.deleted(podstatus.Tainted) },
	},
	{
		"device-tainted", corev1.PodFailed, "The Pod was deleted because of a NoExecute taint of a device that it used.",
		nothing, func(l *life) { l.deleted(podstatus.DeviceTainted) },
	},
	{
		"node-shutdown", corev1.PodFailed, "The node was shut down gracefully.",
		nothing, func(l *life) { l.interrupted(podstatus.CodeTerminated, podstatus.NodeShutdown) },
	},
	{
		"node-lost", corev1.PodFailed, "The node is gone, and the Pod was marked as failed: its containers still seem to run.",
		nothing, func(l *life) {
			l.lost()
			l.node = nil
			l.pod.Status.Phase = corev1.PodFailed
			podstatus.Orphaned.Write(l.pod, ended)
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
		nothing, func(l *life) { l.deleted(podstatus.Cause{}) },
	},
	{
		"deleted-before-start", corev1.PodFailed, "The Pod was deleted while its image was pulled: the first container seems to have ended with code 137.",
		nothing, func(l *life) {
			l.waits(podstatus.ReasonImagePullBackOff, "")
			for _, c := range podstatus.Containers(l.pod) {
				if c.Sidecar {
					c.Exit(0, "", ended)
				}
			}
			podstatus.Stop(l.pod, podstatus.CodeTerminated, ended)
			podstatus.End(l.pod, ended)
			l.deletedWithin(30)
		},
	},
	{
		"deleted-unscheduled", corev1.PodFailed, "The Pod was deleted before the scheduler had found a node for it: no container.",
		nothing, func(l *life) {
			l.unscheduled()
			l.pod.Status.Phase = corev1.PodFailed
			l.deletedWithin(0)
		},
	},
}

// deleted ends the Pod by deleting it because of a disruption.
func (l *life) deleted(cause podstatus.Cause) {
	l.interrupted(podstatus.CodeTerminated, cause)
	l.deletedWithin(30)
}

// deletedWithin marks the Pod as deleted, with a grace period in seconds.
func (l *life) deletedWithin(grace int64) {
	l.pod.DeletionTimestamp = &ended
	l.pod.DeletionGracePeriodSeconds = new(grace)
}
