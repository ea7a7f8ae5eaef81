// Package webhook holds that what admission refuses never traps what exists. One set of requests, testdata/requests.yaml,
// is sent to a real API server twice: with the generated policies in force, and with the bundle in stock OPA behind a
// webhook, as docs/admission.md has it. Gatekeeper is asked the same requests in conformance/interop.
//
// OPA is built from the module in conformance/interop.
package webhook
