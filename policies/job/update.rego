package podverdict.job

import data.podverdict.fields

# METADATA
# title: The spec that an update replaces
# description: Undefined for CronJobs, in which everything may change.
old_spec := defaulted_spec(fields.child(stored, "spec")) if is_job

# METADATA
# title: The selector stays
# custom:
#   id: U1
#   kep: batch/v1
#   field: spec.selector
#   severity: error
findings contains fields.invalid_rendered("U1", at("selector"), selector, rendered_selector(selector), _immutable) if {
	selector := fields.value(spec, "selector")
	_selection(selector) != _selection(fields.value(old_spec, "selector"))
}

# METADATA
# title: The completion mode stays
# custom:
#   id: U2
#   kep: KEP-2214
#   field: spec.completionMode
#   severity: error
findings contains _changed("U2", "completionMode")

# METADATA
# title: The failure policy stays
# description: No rules and an empty list of rules are the same.
# custom:
#   id: U3
#   kep: KEP-3329
#   field: spec.podFailurePolicy
#   severity: error
findings contains fields.invalid_rendered("U3", at("podFailurePolicy"), policy, rendered_failure_policy(policy), _immutable) if {
	policy := fields.value(spec, "podFailurePolicy")
	_failure_policy(policy) != _failure_policy(fields.value(old_spec, "podFailurePolicy"))
}

# METADATA
# title: The limit per index stays
# custom:
#   id: U4
#   kep: KEP-3850
#   field: spec.backoffLimitPerIndex
#   severity: error
findings contains _changed("U4", "backoffLimitPerIndex")

# METADATA
# title: The manager stays
# custom:
#   id: U5
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains _changed("U5", "managedBy")

# METADATA
# title: The success policy stays
# custom:
#   id: U6
#   kep: KEP-3998
#   field: spec.successPolicy
#   severity: error
findings contains fields.invalid_rendered("U6", at("successPolicy"), policy, rendered_success_policy(policy), _immutable) if {
	policy := fields.value(spec, "successPolicy")
	_success_policy(policy) != _success_policy(fields.value(old_spec, "successPolicy"))
}

# METADATA
# title: Without indexes, completions stay
# custom:
#   id: U7
#   kep: batch/v1
#   field: spec.completions
#   severity: error
findings contains _changed("U7", "completions") if not indexed

# METADATA
# title: Completions change together with parallelism
# description: An Indexed Job is elastic while the two are equal.
# custom:
#   id: U8
#   kep: KEP-3715
#   field: spec.completions
#   severity: error
findings contains fields.invalid(
	"U8", at("completions"), spec.completions,
	"can only be modified in tandem with spec.parallelism",
) if {
	indexed
	fields.given(spec, "completions")
	spec.completions != fields.value(old_spec, "completions")
	spec.completions != spec.parallelism
}

# METADATA
# title: The pod template stays
# description: |
#   In a suspended Job without active pods, scheduling directives, container resources
#   and the template's metadata may change; then the finding is about the template's
#   spec. The value is not shown: the API server prints the template with all defaults.
# custom:
#   id: U9
#   kep: KEP-2926, KEP-5440
#   field: spec.template
#   severity: error
findings contains fields.invalid_whole("U9", at(part), _immutable) if {
	part := _fixed_part
	_fixed_template(spec) != _fixed_template(old_spec)
}

# A spec as the API server compares it, defaults and absent members aside.
_comparable(job_spec) := object.union_n([{"manualSelector": false}, job_spec, {
	"selector": _selection(fields.value(job_spec, "selector")),
	"podFailurePolicy": _failure_policy(fields.value(job_spec, "podFailurePolicy")),
	"successPolicy": _success_policy(fields.value(job_spec, "successPolicy")),
	"template": _whole_template(fields.child(job_spec, "template")),
}])

_immutable := "field is immutable"

_changed(id, name) := fields.invalid(id, at(name), fields.value(spec, name), _immutable) if {
	fields.value(spec, name) != fields.value(old_spec, name)
}

_selection(null) := null

_selection(selector) := [fields.child(selector, "matchLabels"), expressions] if {
	selector != null
	expressions := [[expression.key, expression.operator, fields.list(expression, "values")] |
		some expression in fields.list(selector, "matchExpressions")
	]
}

_failure_policy(null) := null

_failure_policy(policy) := [[action, codes, patterns] |
	some rule in fields.list(policy, "rules")
	action := fields.text(rule, "action")
	codes := _requirement(fields.value(rule, "onExitCodes"))
	patterns := [[fields.text(pattern, "type"), fields.text(pattern, "status")] |
		some pattern in fields.list(rule, "onPodConditions")
	]
] if {
	policy != null
}

_requirement(null) := null

_requirement(requirement) := [
	fields.value(requirement, "containerName"),
	fields.text(requirement, "operator"),
	fields.list(requirement, "values"),
] if {
	requirement != null
}

_success_policy(null) := null

_success_policy(policy) := [[fields.value(rule, "succeededIndexes"), fields.value(rule, "succeededCount")] |
	some rule in fields.list(policy, "rules")
] if {
	policy != null
}
