// Package cel defines the language of rules beyond plain CEL: the types of Pods, Jobs and Nodes, and a library of functions for
// common questions about Pods. docs/language.md is its reference.
//
//	s := cel.Load()
//	env, err := base.Extend(append(cel.Options(s.Pod.CEL, s.Job.CEL, s.Node.CEL),
//		googlecel.CustomTypeProvider(s.Provider(base.CELTypeProvider())),
//		googlecel.CustomTypeAdapter(s.Adapter(base.CELTypeAdapter())),
//		googlecel.Variable("pod", s.Pod.CEL))...)
//
// # Types
//
// A [Schema] has the complete types of Pods, Jobs and Nodes, as their Go types declare them. Reflection reads a value when an
// expression selects it; no object is converted to a map. In pod.status.phase, the type of pod is the [Type] named Pod, made
// from corev1.Pod. Its [Field] status was found by its JSON name, has the type PodStatus, and reads one from the other.
//
// An object has the fields of its JSON form in the API server. An empty field with omitempty is absent: has() returns false,
// and selecting it is the error "no such key". There are two differences, where the original would be of no use:
//
//   - a field that would be null is absent, such as a time that is not set;
//   - a nil list in a field that the API requires is an empty list.
//
// apiVersion and kind of a Pod, a Job and a Node are always present, although clients omit them in typed objects.
//
// Fields have the types that the API server's CEL gives them (k8s.io/apiserver/pkg/cel/common, TypedToVal): a Time is a
// timestamp, a Duration a duration, a Quantity its string, as in "500m", and an IntOrString, of type dyn, is an int or a
// string. Lists are compared in order. Types without a schema (FieldsV1) are omitted.
//
// # Library
//
// The library answers questions that are easy to get wrong in plain CEL. Each of its functions is total: it has a result for
// every Pod, never an error.
//
//	pod.failedContainers().exists(c, c.oomKilled)
//
// failedContainers is one of [Functions]; c is a [Container], whose fields are always present; oomKilled is one of
// [ContainerFields]. These tables are the only definition: the environment, the fast path and the language reference are made
// from them.
//
// Containers come in the Job controller's order (matchPodFailurePolicy in pkg/controller/job/pod_failure_policy.go): the
// Pod's containerStatuses, then its initContainerStatuses. Ephemeral containers never count. A sidecar is an init container
// with restartPolicy Always (KEP-753). It is stopped when the other containers end, so its exit code says nothing about the
// Pod's failure, and it is never among the failed containers.
package cel
