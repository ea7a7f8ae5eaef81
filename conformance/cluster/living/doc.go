// Package living tests what becomes of Jobs whose Pods live and do not do what they should, on a real control plane: Pods that do
// not start, that restart in place again and again, or that hang on a lost node. It has only tests.
//
// Policies with rules on Pending, Running and Terminating end these Pods. In Jobs that kube-controller-manager runs, a
// podFailurePolicy names the condition that our controller sets; in Jobs that our controller runs, the rule itself decides.
//
// # Pods that do not start
//
// Some find no node, as kube-scheduler reports; others have a node and wait for their image. The tests also check who ends such
// Pods. PodGC of kube-controller-manager sets the phase of those without a node to Failed, every 20 seconds; the audit log
// confirms it. For the others the kubelet writes what TerminatePod of v1.37.2 writes (pkg/kubelet/status/status_manager.go).
//
// # Restarts in place
//
// Containers have the restart rules of KEP-5307 and exit with a code for which these start them again, without end. So no Pod
// fails on its own, and nothing that counts failed Pods ends the Job.
//
// # Lost nodes
//
// The kubelet of a node stops: its lease is not renewed, and its containers go on. Kube-controller-manager marks the node as
// not ready and taints it, and its taint manager deletes the Pods, which stay Terminating. In some tests the node comes back later,
// is tainted as out of service, or is deleted.
//
// A witness sees all events of all Pods. It checks that no index ever has two Pods that run, except where the Job itself
// replaces Pods that are terminating, that no index has two Pods that run and are not terminating, and that no Pod is ended whose
// node is Ready or may not be read.
//
// Package testcluster plays the kubelets, and what the containers do is in this package. Kube-controller-manager has shorter
// periods than by default, so that the package takes a minute or two.
package living
