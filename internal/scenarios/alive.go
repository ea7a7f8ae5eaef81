package scenarios

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// alive are the scenarios in which the Pod runs or has succeeded.
var alive = []Scenario{
	{
		"running", corev1.PodRunning, "All containers run: no verdict.",
		nothing, (*life).runs,
	},
	{
		"restarting", corev1.PodRunning, "The first container has failed four times with code 1, and is about to be restarted: no verdict.",
		Restarts, func(l *life) {
			s := l.first()
			l.waits("CrashLoopBackOff", fmt.Sprintf("back-off 40s restarting failed container=%s pod=%s_%s(%s)", s.Name, l.pod.Name, l.pod.Namespace, l.pod.UID))
			l.pod.Status.Phase = corev1.PodRunning
			s.RestartCount, s.LastTerminationState.Terminated = 3, Terminated(1, ReasonError)
		},
	},
	{
		"terminating", corev1.PodRunning, "The Pod was deleted by a user or a program, and its containers have not ended yet: no verdict.",
		nothing, func(l *life) {
			l.runs()
			l.deletedWithin(30)
		},
	},
	{
		"node-unreachable", corev1.PodRunning, "The node does not answer, and the Pod was deleted: it stays until the node is back or gone, and has no verdict.",
		nothing, (*life).unreachable,
	},
	{
		"succeeded", corev1.PodSucceeded, "All containers completed: no verdict.",
		nothing, func(l *life) {
			l.exits(0, ReasonCompleted)
			l.ended(corev1.PodSucceeded, "PodCompleted")
		},
	},
}
