package podverdict.job

import data.podverdict.fields
import data.podverdict.names
import data.podverdict.operators

# METADATA
# title: The rules of the failure policy
failure_rules := fields.list(fields.child(spec, "podFailurePolicy"), "rules")

# METADATA
# title: A failure policy has at most 20 rules
# custom:
#   id: F1
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules
#   severity: error
findings contains fields.too_many("F1", at("podFailurePolicy.rules"), count(failure_rules), 20) if {
	count(failure_rules) > 20
}

# METADATA
# title: A rule has an action
# custom:
#   id: F2
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].action
#   severity: error
findings contains fields.required("F2", _at_rule(i, ".action"), fields.valid_values(_actions)) if {
	some i, rule in failure_rules
	fields.text(rule, "action") == ""
}

# METADATA
# title: Failing an index needs a limit per index
# custom:
#   id: F3
#   kep: KEP-3850
#   field: spec.podFailurePolicy.rules[*].action
#   severity: error
findings contains fields.invalid(
	"F3", _at_rule(i, ".action"), "FailIndex",
	"requires the backoffLimitPerIndex to be set",
) if {
	some i, rule in failure_rules
	rule.action == "FailIndex"
	not fields.given(spec, "backoffLimitPerIndex")
}

# METADATA
# title: A rule's action is known
# custom:
#   id: F4
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].action
#   severity: error
findings contains fields.unsupported("F4", _at_rule(i, ".action"), rule.action, _actions) if {
	some i, rule in failure_rules
	fields.text(rule, "action") != ""
	not rule.action in _actions
}

# METADATA
# title: A requirement on exit codes has an operator
# custom:
#   id: F5
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.operator
#   severity: error
findings contains fields.required("F5", _at_exit_codes(i, ".operator"), fields.valid_values(operators.all)) if {
	some i, requirement in _exit_codes
	fields.text(requirement, "operator") == ""
}

# METADATA
# title: The operator on exit codes is known
# custom:
#   id: F6
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.operator
#   severity: error
findings contains fields.unsupported("F6", _at_exit_codes(i, ".operator"), requirement.operator, operators.all) if {
	some i, requirement in _exit_codes
	fields.text(requirement, "operator") != ""
	not requirement.operator in operators.all
}

# METADATA
# title: The container of a rule is in the pod template
# description: Containers and init containers, restartable ones too; ephemeral containers never count.
# custom:
#   id: F7
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.containerName
#   severity: error
findings contains fields.invalid_text(
	"F7", _at_exit_codes(i, ".containerName"), requirement.containerName,
	"must be one of the container or initContainer names in the pod template",
) if {
	some i, requirement in _exit_codes
	fields.given(requirement, "containerName")
	not requirement.containerName in _container_names
}

# METADATA
# title: A requirement on exit codes lists one at least
# custom:
#   id: F8
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values
#   severity: error
findings contains fields.invalid(
	"F8", _at_exit_codes(i, ".values"), fields.value(requirement, "values"),
	"at least one value is required",
) if {
	some i, requirement in _exit_codes
	fields.list(requirement, "values") == []
}

# METADATA
# title: A requirement lists at most 255 exit codes
# custom:
#   id: F9
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values
#   severity: error
findings contains fields.too_many("F9", _at_exit_codes(i, ".values"), count(requirement.values), 255) if {
	some i, requirement in _exit_codes
	count(requirement.values) > 255
}

# METADATA
# title: Success is no exit code to look for
# description: 0 is legal with NotIn.
# custom:
#   id: F10
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values[*]
#   severity: error
findings contains fields.invalid("F10", _at_value(i, j), 0, "must not be 0 for the In operator") if {
	some i, requirement in _exit_codes
	requirement.operator == "In"
	0 in requirement.values
	some j, 0 in requirement.values
}

# METADATA
# title: Exit codes are listed once
# description: One finding for every repetition.
# custom:
#   id: F11
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values[*]
#   severity: error
findings contains fields.duplicate("F11", _at_value(i, j), requirement.values[j]) if {
	some i, requirement in _exit_codes
	some j in _repetitions(requirement.values)
}

# METADATA
# title: Exit codes are ordered
# description: Equal neighbours are in order.
# custom:
#   id: F12
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values
#   severity: error
findings contains fields.invalid("F12", _at_exit_codes(i, ".values"), requirement.values, "must be ordered") if {
	some i, requirement in _exit_codes
	requirement.values != sort(requirement.values)
}

# METADATA
# title: A rule has at most 20 condition patterns
# custom:
#   id: F13
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onPodConditions
#   severity: error
findings contains fields.too_many("F13", _at_rule(i, ".onPodConditions"), count(rule.onPodConditions), 20) if {
	some i, rule in failure_rules
	count(rule.onPodConditions) > 20
}

# METADATA
# title: A condition type is a qualified name
# description: One finding for every fault of the name.
# custom:
#   id: F14
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onPodConditions[*].type
#   severity: error
findings contains fields.invalid_text("F14", _at_pattern(i, j, "type"), type, fault) if {
	some i, rule in failure_rules
	some j, pattern in rule.onPodConditions
	type := fields.text(pattern, "type")
	some fault in names.qualified_faults(type)
}

# METADATA
# title: A condition pattern has a status
# description: The API server's defaults add True first, so that its users do not meet this one.
# custom:
#   id: F15
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onPodConditions[*].status
#   severity: error
findings contains fields.required("F15", _at_pattern(i, j, "status"), fields.valid_values(_statuses)) if {
	some i, rule in failure_rules
	some j, pattern in rule.onPodConditions
	fields.text(pattern, "status") == ""
}

# METADATA
# title: The status of a condition pattern is known
# custom:
#   id: F16
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*].onPodConditions[*].status
#   severity: error
findings contains fields.unsupported("F16", _at_pattern(i, j, "status"), pattern.status, _statuses) if {
	some i, rule in failure_rules
	some j, pattern in rule.onPodConditions
	fields.text(pattern, "status") != ""
	not pattern.status in _statuses
}

# METADATA
# title: A rule looks at exit codes or conditions, not at both
# custom:
#   id: F17
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*]
#   severity: error
findings contains fields.invalid_whole(
	"F17", _at_rule(i, ""),
	"specifying both OnExitCodes and OnPodConditions is not supported",
) if {
	some i, _ in _exit_codes
	fields.list(failure_rules[i], "onPodConditions") != []
}

# METADATA
# title: A rule looks at exit codes or conditions
# custom:
#   id: F18
#   kep: KEP-3329
#   field: spec.podFailurePolicy.rules[*]
#   severity: error
findings contains fields.invalid_whole(
	"F18", _at_rule(i, ""),
	"specifying one of OnExitCodes and OnPodConditions is required",
) if {
	some i, rule in failure_rules
	not fields.given(rule, "onExitCodes")
	fields.list(rule, "onPodConditions") == []
}

_actions := ["Count", "FailIndex", "FailJob", "Ignore"]

_statuses := ["False", "True", "Unknown"]

# The requirements on exit codes by the index of their rules.
_exit_codes[i] := rule.onExitCodes if {
	some i, rule in failure_rules
	fields.given(rule, "onExitCodes")
}

_container_names contains container.name if {
	some list in ["containers", "initContainers"]
	some container in fields.list(pod_spec, list)
}

# The positions of values that stand further ahead already. In order of value and
# position, these are the ones behind an equal value: no pairs to compare.
_repetitions(values) := {j |
	count(values) != count({value | some value in values})
	ordered := sort([[value, j] | some j, value in values])
	some k, [value, j] in ordered
	k > 0
	ordered[k - 1][0] == value
}

_at_rule(i, member) := sprintf("%s.podFailurePolicy.rules[%d]%s", [root, i, member])

_at_exit_codes(i, member) := _at_rule(i, sprintf(".onExitCodes%s", [member]))

_at_value(i, j) := _at_exit_codes(i, sprintf(".values[%d]", [j]))

_at_pattern(i, j, member) := _at_rule(i, sprintf(".onPodConditions[%d].%s", [j, member]))
