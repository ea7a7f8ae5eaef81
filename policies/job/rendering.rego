package podverdict.job

import data.podverdict.fields

# METADATA
# title: A failure policy as the API server prints it
# description: In its own types, whose members have Go names and an order of their own.
rendered_failure_policy(null) := "null"

rendered_failure_policy(policy) := sprintf(`{"Rules":%s}`, [_array(policy, "rules", rules)]) if {
	policy != null
	rules := [rendered |
		some rule in fields.list(policy, "rules")
		rendered := sprintf(`{"Action":%s,"OnExitCodes":%s,"OnPodConditions":%s}`, [
			json.marshal(fields.text(rule, "action")),
			_rendered_exit_codes(fields.value(rule, "onExitCodes")),
			_array(rule, "onPodConditions", [_rendered_pattern(p) | some p in fields.list(rule, "onPodConditions")]),
		])
	]
}

# METADATA
# title: A success policy as the API server prints it
rendered_success_policy(null) := "null"

rendered_success_policy(policy) := sprintf(`{"Rules":%s}`, [_array(policy, "rules", rules)]) if {
	policy != null
	rules := [rendered |
		some rule in fields.list(policy, "rules")
		rendered := sprintf(`{"SucceededIndexes":%s,"SucceededCount":%s}`, [
			json.marshal(fields.value(rule, "succeededIndexes")),
			json.marshal(fields.value(rule, "succeededCount")),
		])
	]
}

# METADATA
# title: A label selector as the API server prints it
rendered_selector(null) := "null"

rendered_selector(selector) := sprintf("{%s}", [concat(",", parts)]) if {
	selector != null
	parts := [part |
		some name in ["matchLabels", "matchExpressions"]
		count(selector[name]) > 0
		part := sprintf("%q:%s", [name, json.marshal(selector[name])])
	]
}

_rendered_exit_codes(null) := "null"

_rendered_exit_codes(requirement) := json.marshal({
	"ContainerName": fields.value(requirement, "containerName"),
	"Operator": fields.text(requirement, "operator"),
	"Values": fields.value(requirement, "values"),
}) if {
	requirement != null
}

_rendered_pattern(pattern) := sprintf(`{"Type":%s,"Status":%s}`, [
	json.marshal(fields.text(pattern, "type")),
	json.marshal(fields.text(pattern, "status")),
])

_array(parent, name, elements) := "null" if {
	not fields.given(parent, name)
} else := sprintf("[%s]", [concat(",", elements)])
