// Package rego evaluates the Rego bundle of package policies: the API server's validation of a Job, and a platform team's
// guardrails. It is separate from runtime, so that only its users link OPA.
//
//	validator, err := rego.New(ctx, rego.Options{Guardrails: true})
//	object, err := rego.Object(job)
//	findings, err := validator.Validate(ctx, object, nil)
//
// A [Validator] is prepared once and is safe for concurrent use. It evaluates up to three entrypoints:
//
//	data.podverdict.job.findings         errors for which the API server rejects an object
//	data.podverdict.job.warnings         warnings with which it accepts an object
//	data.podverdict.guardrails.findings  additional requirements of the platform team
//
// Each returns a set or an array of objects {id, field, type, detail, msg} for an input that is a Job or CronJob, or {"object":...,
// "oldObject":...} for an update. For a write to the status, only data.podverdict.jobstatus.findings is evaluated. Invalid
// settings, which data.podverdict.guardrails.configuration_errors reports, are returned as an error and not as findings, because
// they are not problems of the Job.
//
// A [Matcher] evaluates another entrypoint, data.podverdict.match.verdict, which answers the same question as package runtime: what
// a pod's failure means. It exists to test both implementations against each other.
package rego
