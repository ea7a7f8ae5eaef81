// Package conformance defines what KEP-3329 and KEP-3850 make of a failed pod, so that
// any engine can be held to it.
//
// [Go] is the definition, in plain Go, to be read against the KEPs: start there.
// [CEL] is the engine of this project, and has to agree with it. Both are an [Engine],
// a function from a [Request] to a verdict:
//
//	verdict, err := conformance.Go(ctx, conformance.Request{Policy: job.Spec.PodFailurePolicy, Pod: pod})
//
// An engine of your own is compared with the definition by the folders below:
//
//   - vectors has the questions with the answers that are right, and puts them to an
//     engine;
//   - reports says how an engine answered them;
//   - protocol speaks with an engine that is another program, in any language;
//   - generators draws random policies, pods and Jobs, for engines to agree on;
//   - lives plays whole Jobs on a control plane, for controllers instead of engines.
//
// The folders cluster, upstream and interop are tests: against a real API server, against
// the source of Kubernetes, and against programs that run the same Rego.
//
// # Semantics
//
// The policy of a request is taken as it is stored, as the Job controller takes it. A
// policy that the API server would refuse has a verdict too (unknown actions and
// operators never match), and defaults are not filled in. The Job controller looks at
// the pod's phase before it calls the matcher; here the phase is part of the question: a
// pod in any phase but Failed is not terminal. A pod without a phase is judged as a
// failed one.
//
// CEL returns an error instead of a verdict where compiler.Environment.Compile refuses
// a rule: one that asks for more than a hundred different condition statuses.
package conformance
