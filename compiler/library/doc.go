// Package library is what rules can ask of a pod besides its fields: functions and
// types for the questions that come up again and again, and that are easy to get
// wrong in plain CEL. Every function is total: it has an answer for every pod, and
// never an error.
//
//	pod.failedContainers().exists(c, c.oomKilled)
//
// failedContainers is one of [Functions]; c is a [Container], whose fields are always
// present; oomKilled is one of [ContainerFields]. The tables are all that there is:
// the environment, the fast path and the language's reference are made from them.
//
// # Semantics
//
// Containers come in the order in which the Job controller looks at them
// (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go): the pod's
// containerStatuses, then its initContainerStatuses. Ephemeral containers never
// count. A sidecar is an init container that the pod's spec restarts always
// (KEP-753); it is stopped when the other containers end, so its exit code says
// nothing of the pod's failure, and it is never among the failed containers.
package library
