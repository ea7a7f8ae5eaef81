// Package failure says how a pod failed: which containers ended in which way, and what
// Kubernetes says of the pod's end. It judges nothing.
//
//	facts := failure.Of(pod)
//	fmt.Println(facts.Summary) // main OOMKilled (137)
//
// The summary is what a person looks at first, in this order: why the node or the control
// plane ended the pod (status.reason, conditions such as DisruptionTarget), then the
// containers that did not end with exit code 0. Where a disruption ended the pod, its
// containers that were told to stop or killed are left out. The rest is for programs.
//
// If a container runs or waits again after it failed, as with restartPolicy OnFailure, its
// last end is shown. The summary says how often it was restarted.
package failure
