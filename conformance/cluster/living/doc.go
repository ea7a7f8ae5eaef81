// Package living tests Jobs on a real control plane whose Pods are on nodes: Pods that do not start, that restart in
// place repeatedly, or that hang on a lost node, and attempts that get more memory or another node. It has only tests.
//
// # Rules on living Pods
//
// Policies with rules on Pending, Running and Terminating end these Pods. In Jobs run by kube-controller-manager, a
// podFailurePolicy names the condition that our controller sets; in Jobs run by our controller, the rule itself decides.
//
// # Pods that do not start
//
// Some find no node, as kube-scheduler reports; others have a node and wait for their image. The tests also check which
// component ends such Pods. PodGC of kube-controller-manager sets the phase of Pods without a node to Failed, every 20
// seconds; the audit log confirms it. For the others the kubelet writes the same status as TerminatePod of v1.37.2
// (pkg/kubelet/status/status_manager.go).
//
// # Restarts in place
//
// Containers have the restart rules of KEP-5307 and always exit with a code that restarts them, without end. So no Pod
// fails on its own, and no limit on failed Pods ends the Job.
//
// # Lost nodes
//
// The kubelet of a node stops: its lease is not renewed, and its containers continue. Kube-controller-manager marks the
// node as not ready and taints it, and its taint manager deletes the Pods, which stay Terminating. In some tests the node
// comes back later, is tainted as out of service, or is deleted.
//
// A witness sees all events of all Pods. It checks that no index ever has two running Pods, except where the Job itself
// replaces terminating Pods; that no index has two running Pods that are not terminating; and that no Pod is ended whose
// node is Ready or unreadable.
//
// # Retries
//
// TestRetries tests that the next attempt gets the changes requested by rules with a retry. The controller is installed,
// and runs as a process with the permissions of its service account. A kubelet kills a container whose limit is lower
// than its index needs. The memory of each Pod ever created is compared with sizes that were computed by hand. Between
// attempts, Pods are evicted and the controller is killed.
//
// Package testcluster acts as the kubelets, and this package defines the behaviour of containers. Kube-scheduler places
// the Pods. Kube-controller-manager tracks the usage of quotas, and has shorter periods than by default, so that the
// package takes only minutes.
package living
