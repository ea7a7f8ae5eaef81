// Package retry tests on a real control plane that the next attempt gets what rules with a retry say: more memory, or another
// node. It has only tests.
//
// The controller is installed, and runs as a process with the rights of its service account. Kube-scheduler places the Pods, and
// kube-controller-manager keeps the usage of quotas. Package testcluster plays the kubelets: what the containers do is in this
// package. A kubelet kills a container whose limit is lower than what its index needs.
//
// The memory of each Pod that is ever created is compared with sizes that were computed by hand. Between attempts, Pods are
// evicted and the controller is killed.
package retry
