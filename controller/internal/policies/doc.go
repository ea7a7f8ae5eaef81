// Package policies determines the rules in effect for a Job: the compiled rules of its own podFailurePolicy (Programs), and
// the rules of PodFailurePolicies bound to it by a PodFailurePolicyBinding (Registry). It watches the cluster's policies,
// bindings and namespace labels, and writes the statuses of policies and bindings. It does not evaluate pods.
//
// Policies are read before anything else, because they determine which fields the caches keep. While their kinds are not
// installed, or the controller is not allowed to read them, no custom policy is in effect. If a policy does not compile,
// its last good version remains in effect, provided that this process has seen it or the policy's status contains it.
package policies
