// Package serving has the controller's HTTP handlers: the probes of the kubelet, and metrics for clients that the API server
// authorizes. It does not depend on the controller.
package serving
