package scenarios

import (
	"cmp"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// withRules returns a container that restarts in place when it exits with the given code.
func withRules(c corev1.Container, action restart.Action, code int32) corev1.Container {
	c.RestartPolicy = cmp.Or(c.RestartPolicy, new(corev1.ContainerRestartPolicyNever))
	c.RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action:    corev1.ContainerRestartRuleAction(action),
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{code}},
	}}
	return c
}

// TestRestarts checks that a container that exits by itself may start again, following the named Kubernetes tests
// (test/e2e/common/node/container_restart_policy.go), and that a container that something else ends does not.
func TestRestarts(t *testing.T) {
	rules := fullJob()
	spec := &rules.Spec.Template.Spec
	spec.Containers[0] = withRules(spec.Containers[0], restart.Restart, 42)
	spec.Containers[1].RestartPolicy = new(corev1.ContainerRestartPolicyOnFailure)
	spec.InitContainers[0] = withRules(spec.InitContainers[0], restart.RestartAllContainers, 7)
	spec.InitContainers[1] = withRules(spec.InitContainers[1], restart.Restart, 7)
	onFailure, always, done := fullJob(), fullJob(), fullJob()
	init := &done.Spec.Template.Spec.InitContainers[1]
	*init = withRules(*init, restart.Restart, 0)
	onFailure.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	always.Spec.Template.Spec.Containers[1].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	for _, test := range []struct {
		name string
		job  *batchv1.Job
		exit Exit // if empty, the scenario of that name is used
		old  bool // without restart rules, as before Kubernetes 1.35
		want string
	}{
		{name: "should restart container on rule match", job: rules, exit: Exit{"main", 42}, want: "Running main:Restart"},
		{name: "the rule before Kubernetes 1.35", job: rules, exit: Exit{"main", 42}, old: true, want: "Failed"},
		{name: "should not restart container on rule mismatch, container restart policy Never", job: rules, exit: Exit{"main", 43}, want: "Failed"},
		{name: "OnFailure of a container", job: rules, exit: Exit{"helper", 3}, want: "Running helper:Restart"},
		{name: "should restart init and sidecar containers on init container exit", job: rules, exit: Exit{"fetch", 7}, want: "Pending fetch:Restart"},
		{name: "should restart all containers on sidecar container exit", job: rules, exit: Exit{"proxy", 7}, want: "Running proxy:RestartAllContainers AllContainersRestarting"},
		{name: "failed", job: rules, want: "Failed"},
		{name: "failed", job: onFailure, want: "Running main:Restart"},
		{name: "init-container-failed", job: onFailure, old: true, want: "Pending fetch:Restart"},
		{name: "sidecar-killed", job: onFailure, want: "Running main:Restart proxy:Restart"},
		{name: "should restart container on container-level restart policy Always", job: always, exit: Exit{"main", 3}, want: "Running helper:Restart"},
		{name: "succeeded", job: always, want: "Running helper:Restart"},
		{name: "succeeded", job: done, want: "Succeeded"}, // computeInitContainerActions continues after an init container that has succeeded
		{name: "evicted", job: onFailure, want: "Failed"},
		{name: "deleted", job: onFailure, want: "Failed"},
		{name: "deadline-exceeded", job: always, want: "Failed"},
		{name: "node-shutdown", job: always, want: "Failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, gates := Find(test.name), newest
			if test.exit.Code > 0 {
				s = test.exit.Scenario(test.job)
			}
			if test.old {
				gates = restart.Gates{}
			}
			pod := s.Pod(test.job, gates)
			got := string(pod.Status.Phase)
			for _, r := range restart.Of(pod, gates) {
				got += fmt.Sprintf(" %s:%s", r.Status.Name, r.Action)
			}
			for _, c := range pod.Status.Conditions {
				if c.Type == corev1.AllContainersRestarting {
					got += " " + string(c.Type)
				}
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestCrashLoopsByRules checks that a container that restarts after only one exit code fails with that code.
func TestCrashLoopsByRules(t *testing.T) {
	job, s := PlainJob(), Find("crash-loop")
	job.Spec.Template.Spec.Containers[0] = withRules(job.Spec.Template.Spec.Containers[0], restart.Restart, 42)
	last := s.Pod(job, newest).Status.ContainerStatuses[0].LastTerminationState.Terminated
	if s.Lacks(job, newest) != "" || s.Lacks(job, restart.Gates{}) == "" || last.ExitCode != 42 {
		t.Errorf("lacks %q, before the gate %q, exit code %d", s.Lacks(job, newest), s.Lacks(job, restart.Gates{}), last.ExitCode)
	}
}
