package podverdict.job

import data.podverdict.fields

# METADATA
# title: Defaults of a Job
# description: Those of the API server that its constraints depend on. Null is absent.
defaulted_spec(submitted_spec) := object.union_n([
	{"parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": false},
	_completions_default(members),
	_backoff_limit_default(members),
	_replacement_default(members),
	members,
]) if {
	members := defaulted_template(submitted_spec)
}

# METADATA
# title: Defaults of a jobTemplate
# description: Inside a CronJob, the spec of a Job gets no defaults but for the status of pod conditions.
defaulted_template(submitted_spec) := object.union(members, _policy_defaults(members)) if {
	members := {name: member |
		some name, member in submitted_spec
		member != null
	}
}

_completions_default(members) := {"completions": 1} if {
	not fields.given(members, "completions")
	not fields.given(members, "parallelism")
} else := {}

_backoff_limit_default(members) := {"backoffLimit": 2147483647} if {
	fields.given(members, "backoffLimitPerIndex")
} else := {}

_replacement_default(members) := {"podReplacementPolicy": "Failed"} if {
	fields.given(members, "podFailurePolicy")
} else := {"podReplacementPolicy": "TerminatingOrFailed"}

_policy_defaults(members) := {"podFailurePolicy": {"rules": rules}} if {
	some rule in fields.list(members.podFailurePolicy, "rules")
	fields.list(rule, "onPodConditions") != []
	rules := [_rule_with_status(each) | some each in members.podFailurePolicy.rules]
} else := {}

_rule_with_status(rule) := object.union(rule, {"onPodConditions": patterns}) if {
	fields.list(rule, "onPodConditions") != []
	patterns := [_pattern_with_status(pattern) | some pattern in rule.onPodConditions]
} else := rule

_pattern_with_status(pattern) := object.union(pattern, {"status": "True"}) if {
	fields.text(pattern, "status") == ""
} else := pattern
