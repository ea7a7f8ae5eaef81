package scenarios

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// failed holds the scenarios in which a container fails by itself. If it restarts, the Pod continues, as in Kubernetes' tests
// test/e2e/common/node/container_restart_policy.go.
var failed = []Scenario{
	exited("failed", 1, "The first container exited with code 1, the others completed."),
	{
		"oom-killed", corev1.PodFailed, "The first container was killed for its memory limit: code 137, reason OOMKilled.",
		nothing, func(l *life) { l.exits(137, podstatus.ReasonOOMKilled) },
	},
	{
		"child-oom-killed", corev1.PodFailed, "A child of the first container's process was killed for the memory limit, and the process exited with code 1: reason OOMKilled.",
		nothing, func(l *life) { l.exits(1, podstatus.ReasonOOMKilled) },
	},
	exited("killed", 137, "The first container was killed by SIGKILL, but not for its memory: code 137."),
	exited("terminated", 143, "The first container ended by SIGTERM: code 143."),
	exited("aborted", 134, "The first container ended by SIGABRT, as after a failed assertion: code 134."),
	exited("segfault", 139, "The first container ended by SIGSEGV: code 139."),
	exited("command-not-found", 127, "The shell of the first container did not find its command: code 127."),
	{
		"start-error", corev1.PodFailed, "The first container could not be started: code 128, reason StartError.",
		nothing, func(l *life) {
			l.exits(128, "StartError")
			l.first().Status.State.Terminated.StartedAt.Reset()
			l.first().Status.State.Terminated.Message = "failed to create containerd task: executable file not found in $PATH"
		},
	},
	{
		"exit-unknown", corev1.PodFailed, "The container runtime lost track of the first container: code 255, reason Unknown.",
		nothing, func(l *life) {
			epoch := metav1.NewTime(time.Unix(0, 0).UTC())
			l.exits(255, "Unknown")
			l.first().Set(podstatus.Exited(255, "Unknown", epoch, epoch))
		},
	},
	{
		"status-unknown", corev1.PodFailed, "The kubelet no longer finds the first container, as after a restart of the node: code 137, reason ContainerStatusUnknown.",
		nothing, func(l *life) {
			l.exits(podstatus.CodeKilled, "")
			l.first().Lose()
		},
	},
	{
		"second-container-failed", corev1.PodFailed, "The second container, one called helper if there is none, exited with code 1, the others completed.",
		SecondContainer, func(l *life) { l.exit(l.second(), 1, "") },
	},
	{
		"init-container-failed", corev1.PodFailed, "The first init container, or one called init, exited with code 1; no other ran.",
		InitContainer, func(l *life) { l.exit(l.initContainer(), 1, "") },
	},
	{
		"init-container-oom-killed", corev1.PodFailed, "The first init container, or one called init, was killed for its memory limit; no other ran.",
		InitContainer, func(l *life) { l.exit(l.initContainer(), 137, podstatus.ReasonOOMKilled) },
	},
	{
		"sidecar-killed", corev1.PodFailed, "As failed, and a sidecar, one called sidecar if there is none, was killed with code 137.",
		Sidecar, func(l *life) {
			sidecar := l.sidecar()
			l.exits(1, "")
			l.find(sidecar).Set(Exited(137))
		},
	},
}

// exited returns a scenario in which the first container exits with a code.
func exited(name string, code int32, means string) Scenario {
	return Scenario{name, corev1.PodFailed, means, nothing, func(l *life) { l.exits(code, "") }}
}
