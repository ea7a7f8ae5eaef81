// Package effective compiles the custom policies of an input, and says which of them are in
// force for its Jobs. An input is files, or a cluster.
//
// In files, a policy that no binding names is in force for all Jobs, and Namespaces tell
// the labels that bindings select by. In a cluster, a policy that does not compile leaves
// its last good version in force, as the controller does.
package effective
