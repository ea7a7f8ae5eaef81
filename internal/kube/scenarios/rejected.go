package scenarios

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// rejected holds the scenarios in which the kubelet does not admit the Pod. The Pod then has neither container statuses nor conditions.
var rejected = []Scenario{
	refused("rejected", "The kubelet did not admit the Pod: reason UnexpectedAdmissionError, and no container.",
		"UnexpectedAdmissionError", "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices example.com/device, which is unexpected"),
	crowded("rejected-cpu", "The kubelet did not admit the Pod because its node had too little cpu left: reason OutOfcpu.", "cpu", 4000, 14200, 16000),
	crowded("rejected-pods", "The kubelet did not admit the Pod because its node had no place for another Pod: reason OutOfpods.", "pods", 1, 110, 110),
	crowded("rejected-devices", "The kubelet did not admit the Pod because its devices were not registered, as after a restart of the node.", "example.com/device", 1, 0, 0),
	refused("rejected-affinity", "The kubelet did not admit the Pod because the labels of its node had changed: reason NodeAffinity.",
		"NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
	refused("rejected-taint", "The kubelet did not admit the Pod because of a NoExecute taint of its node: reason TaintToleration.",
		"TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"),
	refused("rejected-pressure", "The kubelet did not admit the Pod because its node was low on disk: reason Evicted, but no disruption.",
		"Evicted", "The node had condition: [DiskPressure]. "),
	refused("rejected-shutdown", "The kubelet did not admit the Pod because its node was shutting down: reason NodeShutdown, but no disruption.",
		"NodeShutdown", "Pod was rejected as the node is shutting down."),
	refused("rejected-topology", "The kubelet did not admit the Pod because its node could not align cpus and devices: reason TopologyAffinityError.",
		"TopologyAffinityError", "Resources cannot be allocated with Topology locality"),
	refused("rejected-sysctl", "The kubelet did not admit the Pod because it asks for a sysctl that is not allowed: reason SysctlForbidden.",
		"SysctlForbidden", `forbidden sysctl: "net.core.somaxconn" not allowlisted`),
}

// refused returns a scenario in which the kubelet does not admit the Pod.
func refused(name, means, reason, message string) Scenario {
	return Scenario{name, corev1.PodFailed, means, nothing, func(l *life) { podstatus.Reject(l.pod, reason, message, created) }}
}

// crowded returns a scenario in which the kubelet does not admit the Pod because the node has too little of a resource left.
func crowded(name, means, resource string, requested, used, capacity int) Scenario {
	return Scenario{name, corev1.PodFailed, means, nothing, func(l *life) {
		podstatus.RejectOutOf(l.pod, resource, requested, used, capacity, created)
	}}
}
