// Package schema makes typed Pods, Jobs and Nodes available to CEL: their complete schemas, as the Go types declare them, and their
// values, which reflection reads when an expression selects them. No object is converted to a map.
//
//	s := schema.Load()
//	env, err := base.Extend(
//		cel.CustomTypeProvider(s.Provider(base.CELTypeProvider())),
//		cel.CustomTypeAdapter(s.Adapter(base.CELTypeAdapter())),
//		cel.Variable("pod", s.Pod.CEL))
//
// In pod.status.phase, the type of pod is the [Type] named Pod, made from corev1.Pod. Its [Field] status was found by its
// JSON name, has the type PodStatus, and knows how to read one from the other.
//
// # Semantics
//
// An object has the fields of its JSON form in the API server. An empty field with omitempty is absent: has() returns false,
// and selecting it is the error "no such key". There are two differences, where the original would be of no use:
//
//   - a field that would be null is absent, such as a time that is not set;
//   - a nil list in a field that the API requires is an empty list.
//
// apiVersion and kind of a Pod, a Job and a Node are always present, although clients leave them out of typed objects.
//
// Fields have the types that the API server's CEL gives them (k8s.io/apiserver/pkg/cel/common, TypedToVal): a Time is a
// timestamp, a Duration a duration, a Quantity its string, as in "500m", and an IntOrString, of type dyn, is an int or a
// string. Lists are compared in order. Types without a schema (FieldsV1) are left out.
package schema
