package simulation

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// maxRestarts is how many restarts of a pod in place are simulated. Nothing bounds them if no back-off does.
const maxRestarts = 1000

// restartInPlace leaves the containers to the kubelet. It starts those again that exited, after its back-off, or all of them at
// once, init containers first (test/e2e/common/node/container_restart_policy.go of Kubernetes).
func (s *simulator) restartInPlace(l *life, exited *corev1.Pod, again []restart.Restarted) {
	all := slices.IndexFunc(again, func(r restart.Restarted) bool { return r.Action == restart.RestartAllContainers })
	decides := again[max(all, 0)]
	delay := int64(1) // the kubelet's own
	because := failure.Of(exited).Summary
	if all >= 0 {
		l.afresh = true
		removeAll(&exited.Status, *s.time())
	} else {
		delay = max(delay, l.backOff(s.now))
		l.afresh = !initialized(l.pod)
		for _, r := range again {
			r.Status.LastTerminationState = r.Status.State
			r.Status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reasonCrashed}}
		}
	}
	exited.Status.Conditions = podConditions(corev1.ConditionFalse, "ContainersNotReady", *s.time())
	exited.Status.Phase = restart.Phase(exited, false, initialized(exited), s.gates)
	s.change(l, func(p *corev1.Pod) { p.Status = exited.Status })
	l.stage, l.why = crashed, decides.Why()
	event := Event{Type: PodRestarting, Because: because, Delay: delay, Reason: string(decides.Action), Message: l.why}
	if l.restart == maxRestarts {
		event.Message += fmt.Sprintf("; more than %d restarts are not simulated", maxRestarts)
	} else {
		s.schedule(delay, func() { s.onNode(l, func() { s.startAgain(l) }) })
	}
	s.addPodEvent(l, event)
	s.close(l, false)
	s.lookLater(l)
}

// backOff returns how long the kubelet waits before it starts a container again: the first time not at all, then 10 s, and twice
// as long each time, up to 300 s. After ten minutes of running it begins anew (client-go's flowcontrol.Backoff, and
// test/e2e_node/container_restart_test.go of Kubernetes).
func (l *life) backOff(now int64) int64 {
	const first, longest = 10, 300
	if now-l.restarted > 2*longest {
		l.wait = 0
	}
	wait := l.wait
	l.wait = min(max(first, 2*wait), longest)
	return wait
}

func (s *simulator) startAgain(l *life) {
	if l.stage != crashed || l.pod.DeletionTimestamp != nil {
		return
	}
	if l.pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		s.quiet = false // the controller counts restarts
	}
	s.open(l)
	l.started = s.now
	s.result.Summary.Restarts++
	s.change(l, func(p *corev1.Pod) { p.Status = restartedStatus(p, l.does.outcome, l.afresh, *s.time()) })
	l.stage, l.restarted = running, s.now
	l.restart++
	s.addPodEvent(l, Event{Type: PodStarted})
	s.runOn(l)
}

// endless says of a Job that has not finished which pod hangs on a lost node, gets no node or restarts in place; it is empty
// if none does.
func (s *simulator) endless() string {
	most := &life{}
	for _, l := range s.lives {
		if l.stage != ended && l.pod.DeletionTimestamp != nil && s.silent(l) {
			text := fmt.Sprintf("Pod %s has been terminating on the lost node %s since %s", l.pod.Name, l.pod.Spec.NodeName, Clock(l.deleted))
			if *s.job.Spec.PodReplacementPolicy == batchv1.Failed {
				text += "; podReplacementPolicy Failed waits for it"
			}
			return text
		}
		if l.stage == pending && l.placeless {
			return fmt.Sprintf("Pod %s gets no node: %s", l.pod.Name, strings.TrimSuffix(l.pod.Status.Conditions[0].Message, "."))
		}
		if l.stage != ended && l.restart > most.restart {
			most = l
		}
	}
	if most.restart == 0 {
		return ""
	}
	text := fmt.Sprintf("Pod %s restarted in place %d times, %s", most.pod.Name, most.restart, most.why)
	if s.job.Spec.ActiveDeadlineSeconds == nil && most.pod.Spec.ActiveDeadlineSeconds == nil {
		text += "; the Job has no activeDeadlineSeconds that would end it"
	}
	return text
}

// exitedStatus returns the status of a pod whose containers have just exited. Sidecars run on, unless the script has an exit
// code for them.
func exitedStatus(p *corev1.Pod, does outcome, now metav1.Time) corev1.PodStatus {
	status := *p.Status.DeepCopy()
	for i := range status.InitContainerStatuses {
		if c := &status.InitContainerStatuses[i]; !isSidecar(p.Spec.InitContainers[i]) || does.codes[c.Name] != 0 {
			terminate(c, does, now)
		}
	}
	for i := range status.ContainerStatuses {
		terminate(&status.ContainerStatuses[i], does, now)
	}
	return status
}

// removeAll removes the containers that have run, as the kubelet does before it starts all of them again.
func removeAll(status *corev1.PodStatus, now metav1.Time) {
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			if c.State.Running == nil && c.State.Terminated == nil {
				continue
			}
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: codeKilled, Reason: restart.Restarting, FinishedAt: now}
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: restart.Restarting}}
			c.Ready, c.Started = false, new(false)
			c.RestartCount++
		}
	}
}

// restartedStatus returns the status of a pod whose containers start again: those that wait for it, or afresh with the init
// containers.
func restartedStatus(p *corev1.Pod, does outcome, afresh bool, now metav1.Time) corev1.PodStatus {
	status := *p.Status.DeepCopy()
	if afresh {
		status = runningStatus(p, does, now)
		status.StartTime = p.Status.StartTime
		keepRestarts(status.InitContainerStatuses, p.Status.InitContainerStatuses)
		keepRestarts(status.ContainerStatuses, p.Status.ContainerStatuses)
		return status
	}
	started := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i := range statuses {
			if c := &statuses[i]; waitsForRestart(c) {
				c.State, c.Ready, c.Started = started, true, new(true)
				c.RestartCount++
			}
		}
	}
	if _, unready := behind(p, status); len(unready) == 0 {
		status.Conditions = podConditions(corev1.ConditionTrue, "", now)
	}
	return status
}

// keepRestarts keeps how often containers restarted.
func keepRestarts(to, from []corev1.ContainerStatus) {
	for i := range to {
		to[i].RestartCount, to[i].LastTerminationState = from[i].RestartCount, from[i].LastTerminationState
		if waitsForRestart(&from[i]) {
			to[i].RestartCount++
		}
	}
}

func waitsForRestart(c *corev1.ContainerStatus) bool {
	return c.State.Waiting != nil && c.State.Waiting.Reason == reasonCrashed
}
