// Package policies knows which rules are in force for a Job: those of its own podFailurePolicy, compiled (Programs), and those of the
// PodFailurePolicies that a PodFailurePolicyBinding binds to it (Registry). It follows the policies, bindings and labels of
// namespaces of the cluster, and writes the statuses of policies and bindings. It judges no pod.
//
// Policies are read before anything else: they say what the caches are to keep. Where their kinds are not installed, or may not be
// read, no custom policy is in force, until that changes. A policy that does not compile leaves its last version that did in
// force, if this process has seen one or its status keeps one.
package policies
