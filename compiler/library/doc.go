// Package library is the CEL library for rules: functions and types for common questions about pods that are easy to get
// wrong in plain CEL. Every function is total: it has a result for every pod, never an error.
//
//	pod.failedContainers().exists(c, c.oomKilled)
//
// failedContainers is one of [Functions]; c is a [Container], whose fields are always present; oomKilled is one of
// [ContainerFields]. These tables are the only definition: the environment, the fast path and the language reference are made
// from them.
//
// # Semantics
//
// Containers come in the Job controller's order (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go): the
// pod's containerStatuses, then its initContainerStatuses. Ephemeral containers never count. A sidecar is an init container
// with restartPolicy Always (KEP-753). It is stopped when the other containers end, so its exit code says nothing about the
// pod's failure, and it is never among the failed containers.
package library
