// Package recorder writes events about Jobs, pods and policies, at the pace that its limit of calls allows, in turns by namespaces.
// It also has what the events of several loops have in common: reasons, and how long a text may be.
//
// It is not for events that several replicas or runs of the controller must write only once: those have names of their own
// (package observing).
package recorder
