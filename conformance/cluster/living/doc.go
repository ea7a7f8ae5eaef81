// Package living tests on a real control plane what becomes of Jobs whose Pods are on nodes: Pods that do not start, that restart in
// place again and again, or that hang on a lost node, and attempts that get more memory or another node. It has only tests.
//
// # Rules on living Pods
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
// # Retries
//
// TestRetries holds that the next attempt gets what rules with a retry say. The controller is installed, and runs as a process with
// the rights of its service account. A kubelet kills a container whose limit is lower than its index needs. The memory of each Pod
// that is ever created is compared with sizes that were computed by hand. Between attempts, Pods are evicted and the controller is
// killed.
//
// Package testcluster plays the kubelets, and what the containers do is in this package. Kube-scheduler places the Pods.
// Kube-controller-manager keeps the usage of quotas, and has shorter periods than by default, so that the package takes some minutes.
package living
