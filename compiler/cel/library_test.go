package cel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// Builders of pods. Each sets one property of a container.

func status(name string, state corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: state}
}

func exited(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
}

func terminated(t corev1.ContainerStateTerminated) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &t}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}}
}

var running = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}

func podOf(statuses ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: statuses}}
}

// pod returns a pod with containers of every kind.
func pod() *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	return &corev1.Pod{
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "setup"}, {Name: "proxy", RestartPolicy: &always}}},
		Status: corev1.PodStatus{
			ContainerStatuses:          []corev1.ContainerStatus{status("main", exited(1)), status("helper", exited(0))},
			InitContainerStatuses:      []corev1.ContainerStatus{status("proxy", exited(137)), status("setup", exited(2)), status("unknown", running)},
			EphemeralContainerStatuses: []corev1.ContainerStatus{status("debug", exited(3))},
		},
	}
}

func condition(t corev1.PodConditionType, s corev1.ConditionStatus, reason string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: t, Status: s, Reason: reason, Message: "m"}}}}
}

func pendingSince(created time.Time, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}, Status: corev1.PodStatus{Phase: phase}}
}

func TestFunctions(t *testing.T) {
	restarted := status("main", waiting("CrashLoopBackOff"))
	restarted.RestartCount = 1
	once := status("main", waiting("CrashLoopBackOff"))
	once.LastTerminationState = exited(0)
	cannot := status("main", waiting("RunContainerError"))
	cannot.LastTerminationState = terminated(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError"})
	for _, c := range []struct {
		expression string
		pod        *corev1.Pod
		want       string
	}{
		{"pod.containers().map(c, c.name)", pod(), "main helper proxy setup unknown"},
		{"pod.containers().map(c, c.name + ':' + c.kind)", pod(), "main:container helper:container proxy:sidecar setup:init unknown:init"},
		{"pod.containers().map(c, c.name)", &corev1.Pod{}, ""},
		{"pod.failedContainers().map(c, c.name)", pod(), "main setup"},
		{"pod.failedContainers().map(c, c.name)", podOf(status("a", exited(0)), status("b", running), status("c", waiting("x"))), ""},
		{"pod.failedContainers().map(c, c.exitCode)", podOf(status("a", exited(-1)), status("b", exited(3))), "-1 3"},

		{"pod.condition('DisruptionTarget').found", condition("DisruptionTarget", "False", "r"), "true"},
		{"pod.condition('DisruptionTarget').status", condition("DisruptionTarget", "False", "r"), "False"},
		{"pod.condition('DisruptionTarget').reason", condition("DisruptionTarget", "True", "r"), "r"},
		{"pod.condition('DisruptionTarget').message", condition("DisruptionTarget", "True", "r"), "m"},
		{"pod.condition('Other').found", condition("DisruptionTarget", "True", "r"), "false"},
		{"pod.condition('Other').status + pod.condition('Other').reason + pod.condition('Other').message", &corev1.Pod{}, ""},
		{"pod.condition('Other') == pod.condition('Another')", &corev1.Pod{}, "true"},
		{"pod.condition('Other') == pod.condition('DisruptionTarget')", condition("DisruptionTarget", "True", ""), "false"},
		{"pod.hasCondition('DisruptionTarget')", condition("DisruptionTarget", "True", ""), "true"},
		{"pod.hasCondition('DisruptionTarget')", condition("DisruptionTarget", "False", ""), "false"},
		{"pod.hasCondition('DisruptionTarget')", condition("DisruptionTarget", "Unknown", ""), "false"},
		{"pod.hasCondition('DisruptionTarget')", &corev1.Pod{}, "false"},
		{"pod.hasCondition('')", &corev1.Pod{}, "false"},

		{"pod.neverStarted()", &corev1.Pod{}, "true"},
		{"pod.neverStarted()", podOf(status("a", waiting("ImagePullBackOff"))), "true"},
		{"pod.neverStarted()", podOf(status("a", running)), "false"},
		{"pod.neverStarted()", podOf(status("a", exited(0))), "false"},
		{"pod.neverStarted()", podOf(status("a", terminated(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError"}))), "true"},
		{"pod.neverStarted()", podOf(status("a", terminated(corev1.ContainerStateTerminated{ExitCode: 127, Reason: "ContainerCannotRun"}))), "true"},
		{"pod.neverStarted()", podOf(status("a", terminated(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}))), "false"},
		{"pod.neverStarted()", podOf(restarted), "false"},
		{"pod.neverStarted()", podOf(once), "false"},
		{"pod.neverStarted()", podOf(cannot), "true"},
		{"pod.neverStarted()", &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{status("a", exited(0))}}}, "false"},

		{"pod.waitingReasons()", podOf(status("a", waiting("X")), status("b", waiting("")), status("c", waiting("Y")), status("d", waiting("X"))), "X Y"},
		{"string(size(pod.waitingReasons()))", pod(), "0"},
		{"pod.unschedulable()", condition("PodScheduled", "False", "Unschedulable"), "true"},
		{"pod.unschedulable()", condition("PodScheduled", "False", "SchedulingGated"), "false"},
		{"pod.unschedulable()", condition("PodScheduled", "True", "Unschedulable"), "false"},
		{"pod.unschedulable()", &corev1.Pod{}, "false"},

		{"string(pod.pendingFor(now))", pendingSince(now.Add(-time.Hour), "Pending"), "3600s"},
		{"string(pod.pendingFor(now))", pendingSince(now.Add(-time.Hour), "Running"), "0s"},
		{"string(pod.pendingFor(now))", pendingSince(now.Add(time.Hour), "Pending"), "0s"},
		{"string(pod.pendingFor(now))", pendingSince(time.Time{}, "Pending"), "0s"},

		{"2.between(2, 2) && 2.between(1, 3) && !1.between(2, 3) && !4.between(2, 3) && !2.between(3, 1)", &corev1.Pod{}, "true"},
	} {
		t.Run(c.expression, func(t *testing.T) {
			if got := evaluate(t, c.expression, on(c.pod, nil)); strings.Trim(got, "[]") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNodeFunctions checks the functions of a node on nodes in each state, and on an absent node.
func TestNodeFunctions(t *testing.T) {
	node := func(ready corev1.ConditionStatus, taints ...string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": "spot"}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}, {Type: corev1.NodeReady, Status: ready}}
		for _, key := range taints {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
		}
		return n
	}
	all := "node.label('pool') + ' ' + node.label('zone')"
	for _, test := range []string{"hasCondition('DiskPressure')", "hasTaint('x')", "unreachable()", "ready()"} {
		all = "(node." + test + " ? 'T' : 'F') + " + all
	}
	for name, c := range map[string]struct {
		node *corev1.Node
		want string
	}{
		"ready":                      {node(corev1.ConditionTrue), "TFFTspot "},
		"not ready, but reporting":   {node(corev1.ConditionFalse, "node.kubernetes.io/not-ready"), "FFFTspot "},
		"not reporting":              {node(corev1.ConditionUnknown), "FTFTspot "},
		"tainted before it is known": {node(corev1.ConditionTrue, "node.kubernetes.io/unreachable", "x"), "TTTTspot "},
		"without conditions":         {&corev1.Node{}, "FFFF "},
		"absent":                     {nil, "FFFF "},
	} {
		t.Run(name, func(t *testing.T) {
			got := evaluate(t, all, on(&corev1.Pod{}, c.node))
			if short := evaluate(t, strings.ReplaceAll(all, "node.", "pod.node()."), on(&corev1.Pod{}, c.node)); got != c.want || short != c.want {
				t.Errorf("got %q and by pod.node() %q, want %q", got, short, c.want)
			}
		})
	}
}

func TestContainerFields(t *testing.T) {
	full := status("main", terminated(corev1.ContainerStateTerminated{ExitCode: 137, Signal: 9, Reason: "OOMKilled", Message: "too much"}))
	full.RestartCount, full.Image = 3, "app:1"
	signal := func(code, signal int32) corev1.ContainerStatus {
		return status("c", terminated(corev1.ContainerStateTerminated{ExitCode: code, Signal: signal}))
	}
	for _, c := range []struct {
		field  string
		status corev1.ContainerStatus
		want   string
	}{
		{"name", full, "main"},
		{"kind", full, "container"},
		{"state", full, "terminated"},
		{"state", status("c", running), "running"},
		{"state", status("c", waiting("x")), "waiting"},
		{"state", corev1.ContainerStatus{}, "waiting"},
		{"exitCode", full, "137"},
		{"exitCode", status("c", running), "0"},
		{"signal", full, "9"},
		{"signal", signal(143, 9), "9"}, // the runtime's signal takes precedence
		{"signal", signal(128, 0), "0"},
		{"signal", signal(129, 0), "1"},
		{"signal", signal(192, 0), "64"},
		{"signal", signal(193, 0), "0"},
		{"signal", signal(1, 0), "0"},
		{"signal", status("c", running), "0"},
		{"signalName", full, "SIGKILL"},
		{"signalName", signal(143, 0), "SIGTERM"},
		{"signalName", signal(139, 0), "SIGSEGV"},
		{"signalName", signal(159, 0), "SIGSYS"},
		{"signalName", signal(160, 0), ""},
		{"signalName", signal(162, 0), "SIGRTMIN"},
		{"signalName", signal(192, 0), "SIGRTMIN+30"},
		{"signalName", signal(1, 0), ""},
		{"signalName", signal(1, -1), ""},
		{"signalName", signal(1, 1000), ""},
		{"reason", full, "OOMKilled"},
		{"reason", status("c", waiting("ImagePullBackOff")), "ImagePullBackOff"},
		{"reason", status("c", running), ""},
		{"message", full, "too much"},
		{"message", status("c", waiting("x")), "m"},
		{"message", status("c", running), ""},
		{"oomKilled", full, "true"},
		{"oomKilled", signal(137, 9), "false"}, // killed, but not for its memory use
		{"oomKilled", status("c", waiting("OOMKilled")), "false"},
		{"restarts", full, "3"},
		{"image", full, "app:1"},
	} {
		t.Run(c.field+" "+c.want, func(t *testing.T) {
			if got := evaluate(t, "pod.containers()[0]."+c.field, on(podOf(c.status), nil)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestAbsentFieldsAreErrors checks that has() of an undefined field is an error and not false, even if the checker cannot see it.
func TestAbsentFieldsAreErrors(t *testing.T) {
	for expression, want := range map[string]string{
		"has(dyn(pod.containers()[0]).name)": "true",
		"has(dyn(pod.containers()[0]).nope)": "no such field nope in podverdict.Container",
		"dyn(pod.containers()[0]).nope":      "no such field nope in podverdict.Container",
		"podverdict.Container{name: 'x'}":    "an expression cannot make a podverdict.Container",
	} {
		if got := evaluate(t, expression, on(podOf(status("main", running)), nil)); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

func TestSignalNames(t *testing.T) {
	names := cel.SignalNames()
	if len(names) != 62 || names[8] != "SIGKILL" || names[14] != "SIGTERM" || !slices.Contains(names, "SIGRTMIN+30") {
		t.Errorf("got %d names: %v", len(names), names)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 62 {
		t.Error("a name is there twice")
	}
}
