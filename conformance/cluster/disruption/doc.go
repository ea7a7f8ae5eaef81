// Package disruption has the components of Kubernetes disrupt pods of Jobs, and compares
// what becomes of the Jobs: all of it is tests.
//
// kube-scheduler preempts a pod for another, the taint-eviction-controller and PodGC of
// kube-controller-manager delete pods of a tainted and of a deleted node, and the API server
// evicts for kubectl drain. Each adds the condition DisruptionTarget itself, with its own
// reason, and the audit log says that it was the one. The kubelet's eviction needs a
// kubelet: kwok, which runs the pods of all nodes here, writes the status that it
// documents.
//
// Each disruption meets each policy twice, in a Job that kube-controller-manager runs and in
// one that package controller runs. The failed pods are judged by the compiled program. Its
// verdicts must be those expected, and so must the end of both Jobs. The message of a Job that
// its policy failed is that of a verdict, letter for letter, and no field of the two final
// statuses differs but for times and the names of pods. The event that package controller
// tells of each pod, also of the native Job's, says the same.
//
// A trial is deterministic but for its pace: a pod runs until it is disrupted or told to
// succeed. PodGC looks for pods without a node every 20 seconds and gives the node 40
// seconds to come back; all other trials are over by then.
package disruption
