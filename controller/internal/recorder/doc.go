// Package recorder writes events about Jobs, pods and policies, within a rate limit and fairly between namespaces. It also
// defines what the events of several loops have in common: reasons, and how long a note may be.
//
// It does not suit events that several replicas or runs of the controller must write only once: those have fixed names
// (package observing).
package recorder
