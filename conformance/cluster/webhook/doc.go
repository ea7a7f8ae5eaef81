// Package webhook tests that admission rules never block changes to objects that exist already. It sends the requests in
// testdata/requests.yaml to a real API server twice: with the generated policies in force, and with the bundle in stock OPA
// behind a webhook, as docs/admission.md describes. conformance/interop tests Gatekeeper with the same requests.
//
// OPA is built from the module in conformance/interop.
package webhook
