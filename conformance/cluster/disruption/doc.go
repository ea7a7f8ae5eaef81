// Package disruption lets the components of Kubernetes disrupt pods of Jobs, and compares the effects on the Jobs. It has
// only tests.
//
// kube-scheduler preempts a pod for another, the taint-eviction-controller and PodGC of kube-controller-manager delete
// pods of a tainted and of a deleted node, and the API server evicts for kubectl drain. Each adds the condition
// DisruptionTarget with its own reason, and the audit log confirms the writer. For an eviction by the kubelet, kwok,
// which runs all pods here, writes the status that the kubelet documents.
//
// Each disruption is combined with each policy twice, in a Job run by kube-controller-manager and in one run by package
// controller. The compiled program evaluates the failed pods. Its verdicts and the end of both Jobs must be as expected.
// If the policy fails a Job, the Job's message must equal the verdict's, letter for letter, and the two final statuses
// may differ only in times and names of pods. The events that package controller records for the pods of both Jobs must
// be the same.
//
// A trial is deterministic except for its timing: a pod runs until it is disrupted or made to succeed. PodGC looks for
// pods without a node every 20 seconds and waits 40 seconds for the node to come back; all other trials are over by then.
package disruption
