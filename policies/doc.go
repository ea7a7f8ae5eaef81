// Package policies embeds the Rego bundle: the constraints of the Job API (job) and of writes to a Job's status
// (jobstatus), further rules for platform teams (guardrails), verdicts on failed pods (match), and entry points for
// conftest (main), admission webhooks (admission) and OPA's server (system).
//
// Folders are named after their packages: job/ is data.podverdict.job, and system/ is data.system.main. Tests are in
// the same folders as the rules, so that they run with the stock tool: opa test policies.
//
// The manifest claims each package by name and leaves data.podverdict.config to the user, who sets the limits of the
// guardrails there.
package policies
