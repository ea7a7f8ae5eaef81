// Package failure describes how a pod failed: how each container ended, and what Kubernetes reports about the pod's end.
// It does not evaluate rules.
//
//	facts := failure.Of(pod)
//	fmt.Println(facts.Summary) // main OOMKilled (137)
//
// The summary is for people. It starts with the reason why the node or the control plane ended the pod (status.reason,
// conditions such as DisruptionTarget), followed by the containers that did not end with exit code 0. If a disruption
// ended the pod, it omits the containers that were stopped or killed by the disruption. The other fields are for
// programs.
//
// If a container runs or waits again after a failure, as with restartPolicy OnFailure, its last failure is shown, and the
// summary includes the number of restarts.
package failure
