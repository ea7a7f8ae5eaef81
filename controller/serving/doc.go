// Package serving provides the controller's HTTP handlers: the kubelet's probes, and metrics for clients that the API server
// authorizes. It does not depend on the controller.
package serving
