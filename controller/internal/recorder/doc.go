// Package recorder writes events about Jobs, pods and policies, rate-limited and fairly between namespaces. It also
// defines the common parts of the events of several loops: reasons, and the maximum length of a note.
//
// It is not suitable for events that several replicas or runs of the controller must write only once. Those have fixed
// names (package observing).
package recorder
