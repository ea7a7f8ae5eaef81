// Package metrics counts what the controller does, for Prometheus, and catches panics to count them. It knows no loop: each calls it.
package metrics
