// Package metrics counts the controller's work for Prometheus, and recovers from panics in order to count them. It
// imports none of the loops, which call it.
package metrics
