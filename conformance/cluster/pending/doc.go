// Package pending tests what happens to Jobs whose pods do not start, on a real control plane. It has only tests.
//
// Some pods find no node, as kube-scheduler reports; others have a node and wait for their image. Policies with rules on
// Pending end both. In Jobs that kube-controller-manager runs, a podFailurePolicy names the condition that our controller
// sets; in Jobs that our controller runs, the rule itself decides.
//
// The tests also check who ends such pods. PodGC of kube-controller-manager sets the phase of those without a node to Failed,
// every 20 seconds; the audit log confirms it. For the others the test plays the kubelet: it writes what TerminatePod of
// v1.37.2 writes (pkg/kubelet/status/status_manager.go) and, like mergePodStatus, keeps conditions that the kubelet does not
// own.
package pending
