// Package conformance defines what a failed pod means by KEP-3329 and KEP-3850, so that any engine can be tested.
//
// [Go] is the definition, in plain Go, to be compared with the KEPs: start there. [CEL] is the engine of this project, and
// has to agree. Both are an [Engine], a function from a [Request] to a verdict:
//
//	verdict, err := conformance.Go(ctx, conformance.Request{Policy: job.Spec.PodFailurePolicy, Pod: pod})
//
// The folders below compare other engines with the definition:
//
//   - vectors contains questions with the correct answers, and runs them against an engine;
//   - reports presents the results of an engine;
//   - protocol connects to an engine in another process, in any language.
//
// The folders cluster, upstream and interop are tests: against a real API server, against the source of Kubernetes, and
// against programs that run the same Rego.
//
// # Semantics
//
// As in the Job controller, the policy of a request is treated as stored. No defaults are set, and a policy that the API
// server would reject has a verdict too: unknown actions and operators never match. The Job controller checks the pod's phase
// before it calls the matcher. Here the phase is part of the question: a pod in any phase but Failed is not terminal. A pod
// without a phase counts as failed.
//
// CEL returns an error instead of a verdict if compiler.Environment.Compile rejects a rule because it has more than a hundred
// different condition statuses.
package conformance
