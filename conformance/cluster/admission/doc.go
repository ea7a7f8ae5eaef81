// Package admission tests what a real API server admits: Jobs, admission policies, and custom policies. It has only
// tests.
//
// # Vectors
//
// The vectors of the constraints and of the guardrails are compared with an API server without controllers, because
// controllers would change the vectors' Jobs. New objects are created with dry-run. For an update, the old object is
// really created, with its status, and then updated with dry-run: vectors.Submission.Update applies the vector's change
// to it. So the API server has accepted every old object; no vector has an old object that only an earlier version would
// accept. The API server's findings are the causes of its rejection and the warnings in its response.
//
// Six peculiarities of the API server do not count as differences:
//
//   - On an update it validates a Job by itself and as part of the update, and reports most errors twice. They count
//     once.
//   - It prints the whole of an immutable pod template. The value is left out.
//   - It reports an unknown restart policy a second time, with the list of valid policies.
//   - It also warns about things outside the constraints, such as names with a dot.
//   - It does not warn about objects that it rejects.
//   - If it panics, it aborts the response and continues with the next request.
//
// # Custom policies
//
// The CustomResourceDefinitions of package v1alpha1 are compared with that package's own validation. For every rule of
// the schemas, the table in testdata/objects.yaml has an object that the rule rejects and one that it accepts. Objects
// are sent with dry-run. The causes of the API server's rejection are compared with the errors of Decode, ValidateJSON
// and Validate.
//
// Four differences are intended:
//
//   - In Go, a required string or number that is empty counts as missing.
//   - In Go, a missing spec is treated as a spec without its required fields.
//   - The API server writes matchLabels.example.com/name for matchLabels[example.com/name].
//   - The API server evaluates CEL rules only if no other rule rejects the object; Validate always evaluates them.
//
// # Registration
//
// The checks and the generated policies of compiler/admission are compared with the validation of the API server that
// stores the policies, and with their type checking by kube-controller-manager.
//
// # Requests
//
// Admission rules never block changes to existing objects. The requests in testdata/requests.yaml are sent twice: with
// the generated policies in force, and with the bundle in stock OPA behind a webhook, as docs/admission.md describes. OPA
// is built from the module in conformance/interop, which tests Gatekeeper with the same requests.
package admission
