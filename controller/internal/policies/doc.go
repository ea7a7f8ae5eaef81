// Package policies knows which rules are in force for a Job: those of its own podFailurePolicy, compiled (Programs), and
// those of the PodFailurePolicies that a PodFailurePolicyBinding binds to it (Registry). It watches the cluster's policies,
// bindings and namespace labels, and writes the statuses of policies and bindings. It evaluates no pod.
//
// Policies are read before anything else, because they decide which fields the caches keep. While their kinds are not
// installed, or the controller may not read them, no custom policy is in force. If a policy does not compile, its last
// version that did stays in force, if this process has seen one or the policy's status has kept one.
package policies
