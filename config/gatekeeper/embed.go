// Package gatekeeper holds the guardrails and the constraints of the Job API for OPA Gatekeeper 3.19 or later: for each rule a
// ConstraintTemplate in Rego, with the messages of podverdict check, and a Constraint that enforces it for Jobs and CronJobs.
// Errors deny the request, and warnings are shown to the user. The settings of a guardrail are the parameters of its
// Constraint.
//
//	kubectl apply -f guardrails-templates.yaml
//	kubectl apply -f guardrails-constraints.yaml
//
// The files with the Job API's constraints are for gator and audits, because in a cluster the API server checks these
// constraints itself. Guardrails that are off by default have a template but no Constraint.
package gatekeeper

import "embed"

//go:generate go run ../../policies/internal/gengatekeeper

// FS holds the files, generated from the bundle in policies.
//
//go:embed *.yaml
var FS embed.FS
