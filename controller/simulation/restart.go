package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// maxRestarts is the maximum number of a pod's restarts in place that are simulated. Without back-off they are unbounded.
const maxRestarts = 1000

// restartInPlace leaves the containers to the kubelet. The kubelet restarts those that exited, after its back-off, or all
// of them immediately, init containers first (test/e2e/common/node/container_restart_policy.go of Kubernetes).
func (s *simulator) restartInPlace(l *life, exited *corev1.Pod, again []restart.Restarted) {
	all := slices.IndexFunc(again, func(r restart.Restarted) bool { return r.Action == restart.RestartAllContainers })
	decides := again[max(all, 0)]
	delay := int64(1) // the kubelet's own delay
	because := failure.Of(exited).Summary
	if all < 0 {
		delay = max(delay, l.backOff(s.now))
	}
	for _, c := range podstatus.Containers(exited) {
		if all >= 0 {
			c.Remove()
		} else if slices.ContainsFunc(again, func(r restart.Restarted) bool { return r.Status == c.Status }) {
			c.BackOff(exited, time.Duration(delay)*time.Second)
		}
	}
	podstatus.ReportRunning(exited, s.gates, *s.time())
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

// backOff returns the kubelet's wait before it starts a container again: none the first time, then 10 s, doubling each
// time up to 300 s. It resets after ten minutes of running (client-go's flowcontrol.Backoff, and
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
	s.report(l, func(p *corev1.Pod) { podstatus.StartInit(p, l.does.outcome.failsToStart(&p.Spec), *s.time()) })
	l.stage, l.restarted = running, s.now
	l.restart++
	s.addPodEvent(l, Event{Type: PodStarted})
	s.runOn(l)
}

// endless describes, for a Job that has not finished, a pod that hangs on a lost node, gets no node or restarts in place.
// It returns the empty string if there is no such pod.
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
