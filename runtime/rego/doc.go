// Package rego asks the Rego bundle of package policies what the API server would say of a Job, and what a platform team's
// guardrails say. It stands apart from runtime so that only who asks links OPA.
//
//	validator, err := rego.New(ctx, rego.Options{Guardrails: true})
//	object, err := rego.Object(job)
//	findings, err := validator.Validate(ctx, object, nil)
//
// A [Validator] is prepared once and is safe for concurrent use. It asks up to three entrypoints:
//
//	data.podverdict.job.findings         what the API server refuses
//	data.podverdict.job.warnings         what it accepts with a warning
//	data.podverdict.guardrails.findings  what the platform team wants beyond that
//
// Each is a set or an array of objects {id, field, type, detail, msg} for an input that is a Job or CronJob, or
// {"object":..., "oldObject":...} for an update. For a write to the status, data.podverdict.jobstatus.findings is asked alone. What
// data.podverdict.guardrails.configuration_errors says of settings is an error here, and not a finding: no Job is to blame.
//
// A [Matcher] asks another entrypoint, data.podverdict.match.verdict, what package runtime is asked: what a pod's failure
// means. It is there to hold the two to each other.
package rego
