// Package rego asks the Rego bundle of the constraints on Jobs what the API server would say of a Job, and what a
// platform team's guardrails say. It stands apart from runtime so that only who asks links OPA.
//
//	validator, err := rego.New(ctx, rego.Options{Guardrails: true})
//	object, err := rego.Object(job)
//	findings, err := validator.Validate(ctx, object, nil)
//
// A [Validator] is prepared once and is safe for concurrent use. Its bundle is that of package policies, or any other
// that has the same entrypoints, from a folder ([Load]):
//
//	data.podverdict.job.findings         what the API server refuses
//	data.podverdict.job.warnings         what it accepts with a warning; a bundle need not have it
//	data.podverdict.guardrails.findings  what the platform team wants beyond that
//
// Each is a set or an array of objects {id, field, type, detail, msg} for an input that is a Job or CronJob, or
// {"object":..., "oldObject":...} for an update. Data of the user's own lies over that of the bundle; what
// data.podverdict.guardrails.configuration_errors says of it is an error here, and not a finding: no Job is to blame.
//
// A [Matcher] asks the bundle's third entrypoint, data.podverdict.match.verdict, what package runtime is asked: what a
// pod's failure means. It is there to hold the two to each other.
//
// Bundles may come from elsewhere, so they are compiled without the built-in functions that reach out of the
// evaluation: http.send, those of the network, and opa.runtime, which shows the environment.
package rego
