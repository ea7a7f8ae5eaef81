// Package schema shows typed Pods and Jobs to CEL: their whole schemas, as the Go
// types declare them, and their values, read by reflection where an expression asks
// for them. No object is ever converted to a map.
//
//	s := schema.Load()
//	env, err := base.Extend(
//		cel.CustomTypeProvider(s.Provider(base.CELTypeProvider())),
//		cel.CustomTypeAdapter(s.Adapter(base.CELTypeAdapter())),
//		cel.Variable("pod", s.Pod.CEL))
//
// In pod.status.phase, the type of pod is the [Type] named Pod, made from corev1.Pod.
// Its [Field] status was found by its JSON name, has the type PodStatus, and knows
// how to read one from the other.
//
// # Semantics
//
// An object has the fields of its JSON form in the API server: one that is omitted
// when empty is absent when it is empty, has() of it is false and to select it is the
// error "no such key". Two things are different, because they have no use:
//
//   - what would be null is absent, such as a time that is not set;
//   - a list that the API requires and that is nil is the empty list.
//
// apiVersion and kind of a Pod and of a Job are always there, which clients leave out
// of typed objects.
//
// Types are those that the API server's CEL gives to the fields of built-in types
// (k8s.io/apiserver/pkg/cel/common, TypedToVal): a Time is a timestamp, a Duration a
// duration, a Quantity its string, as in "500m", and an IntOrString, of type dyn, is
// an int or a string. Lists are compared in order. Types without a schema of their
// own (FieldsV1) are left out.
package schema
