// Package effective compiles the custom policies of an input and determines which are in
// effect for its Jobs. The input is files or a cluster.
//
// In files, a policy without a binding is in effect for all Jobs, and Namespace objects
// provide the labels that bindings select by. In a cluster, if a policy does not compile,
// its last good version stays in effect, as in the controller.
package effective
