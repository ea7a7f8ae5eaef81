package podstatus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/restart"
)

// Create writes the status of a Pod on its node before its first container is created.
func Create(pod *corev1.Pod, at metav1.Time) {
	reason := ReasonCreating
	if len(pod.Spec.InitContainers) > 0 {
		reason = ReasonInitializing
	}
	for _, c := range Containers(pod) {
		c.Wait(reason, "")
	}
	pod.Status.Phase = corev1.PodPending
	admit(pod, at)
	Report(pod, SandboxMissing, at)
}

// Start writes the status of a Pod whose init containers have succeeded, and whose other containers run. Containers that have already run
// keep their state, and those that wait for a restart are restarted.
func Start(pod *corev1.Pod, at metav1.Time) { StartInit(pod, "", at) }

// StartInit is like Start, but the named init container still runs, and the containers after it wait for it.
func StartInit(pod *corev1.Pod, name string, at metav1.Time) {
	start(pod, name, at)
	ReportRunning(pod, restart.Gates{}, at)
}

// Wait writes the status of a Pod on its node whose first container waits. The others run.
func Wait(pod *corev1.Pod, reason, message string, at metav1.Time) {
	start(pod, "", at)
	first(pod).Wait(reason, message)
	ReportRunning(pod, restart.Gates{}, at)
}

// start starts the waiting containers, up to the named init container.
func start(pod *corev1.Pod, until string, at metav1.Time) {
	admit(pod, at)
	waits := false
	for _, c := range Containers(pod) {
		if !c.waits() {
			continue
		}
		if c.backsOff() {
			c.Status.RestartCount++
		}
		switch {
		case waits:
			c.Wait(ReasonInitializing, "")
		case c.Init && c.Name != until:
			c.Set(Exited(0, "", at, at))
		default:
			c.Run(at)
			waits = c.Init
		}
	}
}

func first(pod *corev1.Pod) Container {
	return Containers(pod)[len(pod.Spec.InitContainers)]
}

func admit(pod *corev1.Pod, at metav1.Time) {
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &at
	}
}

// ReportRunning derives the phase and the conditions of a Pod that has a sandbox and is not ending.
func ReportRunning(pod *corev1.Pod, g restart.Gates, at metav1.Time) {
	pod.Status.Phase = restart.Phase(pod, false, hasBegun(pod), g)
	Report(pod, SandboxReady, at)
}

// Stop ends all running containers with an exit code.
func Stop(pod *corev1.Pod, code int32, at metav1.Time) {
	for _, c := range Containers(pod) {
		if c.Status.State.Running != nil {
			c.Exit(code, "", at)
		}
	}
}

// End writes the status of a Pod that its kubelet has finished: nothing restarts, and the kubelet cannot find containers that never ran.
// The Pod has failed if its status has a reason.
func End(pod *corev1.Pod, at metav1.Time) {
	pod.Status.Phase = restart.Phase(pod, true, hasBegun(pod), restart.Gates{})
	if pod.Status.Reason != "" {
		pod.Status.Phase = corev1.PodFailed
	}
	for _, c := range Containers(pod) { // a container that waits for its restart is reported with its last exit
		if c.backsOff() {
			c.Set(c.Status.LastTerminationState)
		}
	}
	sandbox := SandboxStopped
	if c := find(pod.Status.Conditions, corev1.PodReadyToStartContainers); c != nil && c.Message == string(SandboxMissing) {
		sandbox = SandboxMissing
	}
	Report(pod, sandbox, at)
	loseWaiting(pod)
	if pod.Status.Phase != corev1.PodSucceeded {
		pod.Status.Phase = corev1.PodFailed
	}
}

// loseWaiting ends the containers that never ran: all of them if the Pod was initialized, else the init containers up to the last one that
// was started, and at least one (TerminatePod in pkg/kubelet/status/status_manager.go).
func loseWaiting(pod *corev1.Pod) {
	all := Containers(pod)
	lost := 1
	for i, c := range all[:len(pod.Spec.InitContainers)] {
		if !c.waits() || c.Status.LastTerminationState.Terminated != nil {
			lost = i + 1
		}
	}
	if WasInitialized(pod) {
		lost = len(all)
	}
	for _, c := range all[:min(lost, len(all))] {
		if c.Status.State.Terminated == nil {
			c.Lose()
		}
	}
}

// WasInitialized reports whether the containers of a Pod could start: its init containers have succeeded, or a container has run, which
// implies that they have.
func WasInitialized(pod *corev1.Pod) bool {
	all := pod.Status.InitContainerStatuses
	return hasBegun(pod) || len(all) == 0 || all[len(all)-1].Ready
}

// Settle writes the status of a Pod whose containers have just exited: the Pod has ended, or continues with restarted containers. It does
// not change a Pod that something else ends.
func Settle(pod *corev1.Pod, g restart.Gates, at metav1.Time) {
	exited := func(s corev1.ContainerStatus) bool { return s.State.Terminated != nil }
	failed := func(s corev1.ContainerStatus) bool { return exited(s) && s.State.Terminated.ExitCode != 0 }
	status := &pod.Status
	if restart.IsInterrupted(pod) || !slices.ContainsFunc(status.ContainerStatuses, exited) && !slices.ContainsFunc(status.InitContainerStatuses, failed) {
		return
	}
	again, phase := restart.Again(pod, g), restart.Phase(pod, false, hasBegun(pod), g)
	switch ends := endReasons[phase] != ""; {
	case ends && phase != status.Phase:
		status.Phase = phase
		Report(pod, SandboxStopped, at)
	case !ends && len(again) > 0:
		goOn(pod, g, at)
		if slices.ContainsFunc(again, func(r restart.Restarted) bool { return r.Action == restart.RestartAllContainers }) {
			SetCondition(pod, corev1.PodCondition{
				Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue,
				Reason: "RestartAllContainersStarted", Message: "container exited with restart policy rule",
			}, at)
		}
	}
}

// goOn reports a Pod with restarted containers. Its sidecars, which end with the Pod, run.
func goOn(pod *corev1.Pod, g restart.Gates, at metav1.Time) {
	for _, c := range Containers(pod) {
		if ended := c.Status.State.Terminated; c.Sidecar && ended != nil && ended.ExitCode == 0 {
			c.Run(ended.StartedAt)
		}
	}
	ReportRunning(pod, g, at)
}
