// Package metrics counts the controller's work, for Prometheus, and recovers from panics in order to count them. It
// imports no loop: the loops call it.
package metrics
