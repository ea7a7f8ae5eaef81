package scenarios

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// alive holds the scenarios in which the Pod runs or is terminating.
var alive = []Scenario{
	{
		"running", corev1.PodRunning, "All containers run: no verdict.",
		nothing, (*life).runs,
	},
	{
		"restarting", corev1.PodRunning, "The first container has failed four times with code 1, and is about to be restarted: no verdict.",
		Restarts, func(l *life) { l.crashLoops(3, 40*time.Second) },
	},
	{
		"crash-loop", corev1.PodRunning, "The first container has failed 26 times, with code 1 or one after which it restarts, and waits for five minutes each time: no verdict.",
		CrashLoops, func(l *life) { l.crashLoops(25, 5*time.Minute) },
	},
	{
		"restarted", corev1.PodRunning, "All containers run, the first one after 57 restarts in place: no verdict.",
		RestartsInPlace, func(l *life) {
			l.runs()
			l.restarted(57)
		},
	},
	{
		"never-ready", corev1.PodRunning, "All containers run, but the readiness probe of the first one fails: no verdict.",
		ReadinessProbe, func(l *life) {
			podstatus.Start(l.pod, created)
			l.first().Status.Ready = false
			podstatus.Report(l.pod, podstatus.SandboxReady, started)
		},
	},
	{
		"node-unreachable", terminating, "The node does not answer, and the Pod was deleted: it stays until the node is back or gone, and has no verdict.",
		nothing, (*life).unreachable,
	},
	{
		"deleted-on-lost-node", terminating, "As node-unreachable, but a user or a program deleted the Pod: no disruption, and no verdict.",
		nothing, func(l *life) {
			l.lost()
			l.deletedWithin(30)
		},
	},
	{
		"node-back", terminating, "As node-unreachable, but the node has just come back, and its kubelet ends the Pod: no verdict.",
		nothing, func(l *life) {
			l.unreachable()
			l.node = readyNode()
			podstatus.Report(l.pod, podstatus.SandboxReady, ended)
		},
	},
	{
		"out-of-service", terminating, "As node-unreachable, and the node has just been tainted as out of service: no verdict before the Pod is marked as failed.",
		nothing, func(l *life) {
			l.unreachable()
			l.taint(corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute)
		},
	},
	{
		"terminating", terminating, "The Pod was deleted by a user or a program, and its containers have not ended yet: no verdict.",
		nothing, func(l *life) {
			l.runs()
			l.deletedWithin(30)
		},
	},
}

// done holds the scenarios in which the Pod has succeeded.
var done = []Scenario{
	{
		"succeeded", corev1.PodSucceeded, "All containers completed: no verdict.",
		nothing, func(l *life) { l.exits(0, "") },
	},
}

// forRules names the scenarios that matter only to rules on Pods that run or are terminating.
var forRules = []string{"crash-loop", "restarted", "never-ready", "deleted-on-lost-node", "node-back", "out-of-service"}

// IsForRules reports whether the scenario matters only to rules on Pods that run or are terminating.
func (s *Scenario) IsForRules() bool { return slices.Contains(forRules, s.Name) }

// crashLoops makes the first container wait after a number of restarts.
func (l *life) crashLoops(restarts int32, backOff time.Duration) {
	l.runs()
	l.restarted(restarts)
	l.first().Set(l.first().Status.LastTerminationState)
	l.first().BackOff(l.pod, backOff)
	podstatus.Report(l.pod, podstatus.SandboxReady, ended)
}

// restarted sets the number of restarts of the first container.
func (l *life) restarted(times int32) {
	code := restartCode(&l.pod.Spec, restart.Gates{Rules: true, AllContainers: true}, restart.Restart, restart.RestartAllContainers)
	l.first().Status.RestartCount, l.first().Status.LastTerminationState = times, Exited(cmp.Or(code, 1))
}

// restartCode returns an exit code after which the kubelet performs one of the actions for the first container, or 0.
func restartCode(spec *corev1.PodSpec, g restart.Gates, actions ...restart.Action) int32 {
	if len(spec.Containers) == 0 {
		return 0
	}
	first, codes := &spec.Containers[0], []int32{1}
	for _, rule := range first.RestartPolicyRules {
		if rule.ExitCodes != nil {
			codes = append(codes, rule.ExitCodes.Values...)
		}
	}
	for _, code := range codes {
		if slices.Contains(actions, restart.Decide(first, spec, code, g).Action) {
			return code
		}
	}
	return 0
}
