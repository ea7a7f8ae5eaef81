// Package serving is what the controller's process answers over HTTP: the probes of the kubelet, and metrics, to those whom the API
// server authorizes. It knows nothing of what the controller does.
package serving
