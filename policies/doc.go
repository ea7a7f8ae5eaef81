// Package policies is the Rego bundle: what the Job API demands (job), what a
// write to a Job's status must keep (jobstatus), what a platform team may want
// beyond (guardrails), what a failed pod means (match), and all of it in the forms
// that conftest (main), admission webhooks (admission) and OPA's server (system) look for.
//
// The path of a folder is the end of its package's path: job/ is
// data.podverdict.job, and system/ is data.system.main. Tests stand beside the rules and are part of the bundle's
// files, so that they run with the stock tool: opa test policies.
//
// The manifest claims each package by name and leaves data.podverdict.config to
// the user, who sets the guardrails' numbers there.
package policies
