// Package failure describes how a pod failed: which containers ended in which way, and what Kubernetes reports about the
// pod's end. It does not evaluate rules.
//
//	facts := failure.Of(pod)
//	fmt.Println(facts.Summary) // main OOMKilled (137)
//
// The summary is for people. It says why the node or the control plane ended the pod (status.reason, conditions such as
// DisruptionTarget), and then which containers did not end with exit code 0. If a disruption ended the pod, it omits the
// containers that were stopped or killed by it. The other fields are for programs.
//
// If a container runs or waits again after a failure, as with restartPolicy OnFailure, its last failure is shown, and the
// summary says how often it was restarted.
package failure
