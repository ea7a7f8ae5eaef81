// Package pending has pods not start, on a real control plane, and looks at what becomes of their Jobs: all of it is tests.
//
// A pod that no node takes waits because kube-scheduler says so. One that is on a node waits for its image. Policies with
// rules on Pending end both, in Jobs that kube-controller-manager runs, by a podFailurePolicy of their own that names the
// condition of our controller, and in Jobs that our controller runs, by the rule itself.
//
// Who ends such pods is part of the proof. PodGC of kube-controller-manager sets the phase of those without a node to
// Failed, every 20 seconds; the audit log says that it was the one. The others need a kubelet, whose part the test plays: it
// writes what TerminatePod of v1.37.2 writes (pkg/kubelet/status/status_manager.go), and like mergePodStatus leaves alone the
// conditions that are not its own.
package pending
