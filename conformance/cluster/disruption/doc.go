// Package disruption lets the components of Kubernetes disrupt pods of Jobs, and compares what happens to the Jobs. It has
// only tests.
//
// kube-scheduler preempts a pod for another, the taint-eviction-controller and PodGC of kube-controller-manager delete pods
// of a tainted and of a deleted node, and the API server evicts for kubectl drain. Each adds the condition DisruptionTarget
// with its own reason, and the audit log confirms that it did. For an eviction by the kubelet, kwok, which runs all pods
// here, writes the status that the kubelet documents.
//
// Each disruption is combined with each policy twice, in a Job that kube-controller-manager runs and in one that package
// controller runs. The compiled program evaluates the failed pods. Its verdicts and the end of both Jobs must be as expected.
// If the policy fails a Job, the Job's message must equal the verdict's, letter for letter, and the two final statuses may
// differ only in times and names of pods. The events that package controller records for the pods of both Jobs must say the
// same.
//
// A trial is deterministic except for its timing: a pod runs until it is disrupted or told to succeed. PodGC looks for pods
// without a node every 20 seconds and gives the node 40 seconds to come back; all other trials are over by then.
package disruption
