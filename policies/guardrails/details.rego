package podverdict.guardrails

# METADATA
# title: What the guardrails want
# description: |
#   The detail of each guardrail's findings by its id. It is a sentence of the settings
#   alone and never of the object, so that the same guardrail written in CEL answers with
#   the same words.
details := {
	"G-BACKOFF-LIMIT": sprintf("must be at most %d", [config["G-BACKOFF-LIMIT"].max]),
	"G-CATCH-ALL-LAST": "must be the last rule, it takes every non-zero exit code",
	"G-CONTAINER-NAMED": "must be set in Pods of several containers",
	"G-DEADLINE": sprintf(
		"must be set, from %d to %d",
		[config["G-DEADLINE"].min, config["G-DEADLINE"].max],
	),
	"G-DISRUPTION-ACTION": sprintf(
		"must be one of %s for the Pod condition DisruptionTarget",
		[concat(", ", config["G-DISRUPTION-ACTION"].actions)],
	),
	"G-DISRUPTION-FIRST": sprintf(
		"must come before the rules of another action that take one of the exit codes %s",
		[_listed(config["G-DISRUPTION-FIRST"].codes)],
	),
	"G-DISRUPTION-HANDLED": "must have a rule for the Pod condition DisruptionTarget",
	"G-IGNORE-BOUNDED": "must not be Ignore without activeDeadlineSeconds, the failure may repeat for ever",
	"G-INDEX-FAIL-INDEX": "must be FailIndex rather than FailJob in Jobs with backoffLimitPerIndex",
	"G-INDEX-FAILED-MAX": sprintf(
		"must be set, and at most %d percent of completions, in Jobs of %d completions or more with backoffLimitPerIndex",
		[config["G-INDEX-FAILED-MAX"].maxPercent, config["G-INDEX-FAILED-MAX"].minCompletions],
	),
	"G-INDEX-LIMIT": sprintf(
		"must be set in Indexed Jobs of %d completions or more",
		[config["G-INDEX-LIMIT"].minCompletions],
	),
	"G-INDEX-LIMIT-MAX": sprintf("must be at most %d", [config["G-INDEX-LIMIT-MAX"].max]),
	"G-INDEX-RESTART-NEVER": "must be Never in Jobs with backoffLimitPerIndex",
	"G-KILL-CODES": sprintf(
		"must not fail the Job or the index on one of the exit codes %s",
		[_listed(config["G-KILL-CODES"].codes)],
	),
	"G-MANAGED-BY": sprintf("must be one of %s", [concat(", ", config["G-MANAGED-BY"].allowed)]),
	"G-PARALLELISM": sprintf("must be at most %d", [config["G-PARALLELISM"].max]),
	"G-POD-DEADLINE": "must not be set together with podFailurePolicy, no rule can match a Pod that exceeds it",
	"G-POLICY-REQUIRED": "must be set and have rules",
	"G-REPLACEMENT-INDEXED": "must be Failed in Indexed Jobs",
	"G-REPLACEMENT-SCARCE": "must be Failed in Jobs whose Pods take scarce resources",
	"G-RESTART-NEVER": "must be Never, so that failures reach the Job controller",
	"G-SIDECAR-TARGET": "must not name a sidecar",
	"G-SIDECAR-UNNAMED": "must be set in Pods with sidecars, their exit codes count too",
	"G-SUCCESS-COUNT": "must be greater than 0",
	"G-TTL": sprintf(
		"must be set, from %d to %d",
		[config["G-TTL"].min, config["G-TTL"].max],
	),
}

_listed(numbers) := concat(", ", [sprintf("%d", [number]) | some number in numbers])
