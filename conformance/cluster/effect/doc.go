// Package effect holds the verdict that is said to take effect to what happens on a real
// control plane: Kubernetes' own Job controller and ours run the same Jobs, with the same
// policies bound to them. All of it is tests.
//
// The test is the kubelet: it ends one pod of each Job after the other.
package effect
