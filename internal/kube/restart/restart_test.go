package restart

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

func rule(action Action, operator corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{
		Action:    corev1.ContainerRestartRuleAction(action),
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: operator, Values: codes},
	}
}

func container(name string, policy corev1.ContainerRestartPolicy, rules ...corev1.ContainerRestartRule) corev1.Container {
	c := corev1.Container{Name: name, RestartPolicyRules: rules}
	if policy != "" {
		c.RestartPolicy = &policy
	}
	return c
}

func TestDecide(t *testing.T) {
	const (
		in     = corev1.ContainerRestartRuleOnExitCodesOpIn
		notIn  = corev1.ContainerRestartRuleOnExitCodesOpNotIn
		never  = corev1.ContainerRestartPolicyNever
		always = corev1.ContainerRestartPolicyAlways
		onFail = corev1.ContainerRestartPolicyOnFailure
	)
	var (
		on42    = container("main", never, rule(Restart, in, 42))
		all     = container("main", never, rule(RestartAllContainers, in, 42), rule(Restart, in, 42))
		but     = container("main", never, rule(Restart, notIn, 1, 2))
		zero    = container("main", onFail, rule(Restart, in, 0))
		alone   = container("main", "", rule(Restart, in, 42))
		failing = container("main", onFail)
		sidecar = container("proxy", always)
	)
	tests := []struct {
		name       string
		kubernetes string
		container  corev1.Container
		pod        corev1.RestartPolicy
		exitCode   int32
		action     Action
		why, since string
	}{
		{"a rule", "1.35", on42, "Never", 42, Restart, "by rule 0 of main", "1.35"},
		{"a code of no rule", "1.35", on42, "OnFailure", 1, None, "by the restartPolicy of main", "1.35"},
		{"rules are dropped", "1.34", on42, "Never", 42, None, "by the Pod's restartPolicy", ""},
		{"policies are dropped", "1.34", failing, "Never", 1, None, "by the Pod's restartPolicy", ""},
		{"all containers", "1.36", all, "Never", 42, RestartAllContainers, "by rule 0 of main", "1.36"},
		{"only the first rule that matches", "1.35", all, "Never", 42, None, "by the restartPolicy of main", "1.35"},
		{"NotIn with another code", "1.37", but, "Never", 0, Restart, "by rule 0 of main", "1.35"},
		{"NotIn with its code", "1.37", but, "Never", 2, None, "by the restartPolicy of main", "1.35"},
		{"a rule on 0", "1.37", zero, "Never", 0, Restart, "by rule 0 of main", "1.35"},
		{"rules without a policy", "1.37", alone, "Never", 42, None, "by the Pod's restartPolicy", ""},
		{"OnFailure of a container", "1.37", failing, "Never", 1, Restart, "by the restartPolicy of main", "1.35"},
		{"success under OnFailure", "1.37", failing, "Never", 0, None, "by the restartPolicy of main", "1.35"},
		{"OnFailure of the Pod", "1.37", container("main", ""), "OnFailure", 1, Restart, "by the Pod's restartPolicy", ""},
		{"Always of the Pod", "1.37", container("main", ""), "Always", 0, Restart, "by the Pod's restartPolicy", ""},
		{"a sidecar", "1.33", sidecar, "Never", 0, Restart, "by the restartPolicy of proxy", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.PodSpec{RestartPolicy: test.pod, InitContainers: []corev1.Container{sidecar}}
			d := Decide(&test.container, pod, test.exitCode, GatesOf(version.MustParseGeneric(test.kubernetes)))
			if d.Action != test.action || d.Why(test.container.Name) != test.why {
				t.Errorf("%q %s, want %q %s", d.Action, d.Why(test.container.Name), test.action, test.why)
			}
			since := ""
			if v := d.Since(); v != nil {
				since = v.String()
			}
			if since != test.since {
				t.Errorf("since %q, want %q", since, test.since)
			}
		})
	}
}

func TestPhase(t *testing.T) {
	var (
		on42    = rule(Restart, corev1.ContainerRestartRuleOnExitCodesOpIn, 42)
		main    = container("main", "Never", on42)
		helper  = container("helper", "")
		setup   = container("setup", "Never", on42)
		sidecar = container("proxy", "Always")
		newest  = Gates{Rules: true, AllContainers: true}
		ended   = func(code int32) corev1.ContainerState {
			return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
		}
		running  = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		restarts = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: Restarting}}
	)
	tests := []struct {
		name   string
		gates  Gates
		ended  bool
		init   map[string]corev1.ContainerState
		states map[string]corev1.ContainerState
		want   corev1.PodPhase
	}{
		{name: "nothing has run", gates: newest, want: corev1.PodPending},
		{name: "restarts", gates: newest, states: map[string]corev1.ContainerState{"main": ended(42), "helper": ended(0)}, want: corev1.PodRunning},
		{name: "restarts beside a failure", gates: newest, states: map[string]corev1.ContainerState{"main": ended(42), "helper": ended(1)}, want: corev1.PodRunning},
		{name: "does not restart", gates: newest, states: map[string]corev1.ContainerState{"main": ended(1), "helper": ended(0)}, want: corev1.PodFailed},
		{name: "no gate", states: map[string]corev1.ContainerState{"main": ended(42), "helper": ended(0)}, want: corev1.PodFailed},
		{name: "ended by the kubelet", gates: newest, ended: true, states: map[string]corev1.ContainerState{"main": ended(42), "helper": ended(0)}, want: corev1.PodFailed},
		{name: "victim of a restart", gates: newest, states: map[string]corev1.ContainerState{"main": ended(0), "helper": restarts}, want: corev1.PodRunning},
		{name: "the same reason without the gate", gates: Gates{Rules: true}, states: map[string]corev1.ContainerState{"main": ended(0), "helper": restarts}, want: corev1.PodFailed},
		{name: "success", gates: newest, states: map[string]corev1.ContainerState{"main": ended(0), "helper": ended(0)}, want: corev1.PodSucceeded},
		{name: "one runs", gates: newest, states: map[string]corev1.ContainerState{"main": ended(1), "helper": running}, want: corev1.PodRunning},
		{name: "a sidecar runs", gates: newest, init: map[string]corev1.ContainerState{"setup": ended(0), "proxy": running}, states: map[string]corev1.ContainerState{"main": ended(1), "helper": ended(1)}, want: corev1.PodRunning},
		{name: "an init container fails", gates: newest, init: map[string]corev1.ContainerState{"setup": ended(1), "proxy": ended(0)}, want: corev1.PodFailed},
		{name: "an init container restarts", gates: newest, init: map[string]corev1.ContainerState{"setup": ended(42), "proxy": ended(0)}, want: corev1.PodPending},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{main, helper}}}
			if test.init != nil {
				pod.Spec.InitContainers = []corev1.Container{setup, sidecar}
			}
			for name, state := range test.init {
				pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: name, State: state})
			}
			for name, state := range test.states {
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, State: state})
			}
			if got := Phase(pod, test.ended, len(test.states) > 0, test.gates); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
