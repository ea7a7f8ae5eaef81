# METADATA
# scope: package
# title: What a failed pod means for its Job
# description: |
#   The matching rules of pod failure policies (KEP-3329, KEP-3850) for an input of
#   {policy, pod}. The first rule whose requirement the pod satisfies decides; without
#   one the failure is counted. Rules with an action unknown to the API are skipped, as
#   are requirements with an unknown operator. FailIndex is known unless the input's
#   kubernetes is older than 1.29.
package podverdict.match

import data.podverdict.fields
import data.podverdict.operators

# METADATA
# title: The verdict on a pod
# description: The object that podverdict prints as JSON; what does not apply is absent.
# entrypoint: true
verdict := {"terminal": false, "matched": false, "counted": false} if {
	not terminal
} else := object.union_n([
	{
		"terminal": true,
		"matched": true,
		"action": _rule.action,
		"counted": _rule.action != "Ignore",
		"rule": min(matches),
		"message": _message,
	},
	_by_exit_code,
	_by_condition,
]) if {
	count(matches) > 0
} else := {"terminal": true, "matched": false, "action": "Count", "counted": true}

# METADATA
# title: The pod has failed
# description: A pod without a phase is judged as failed.
terminal if fields.text(_status, "phase") in {"", "Failed"}

# METADATA
# title: The indexes of the rules that match
matches contains i if {
	some i, rule in _rules
	rule.action in _actions
	_exited(rule)
}

matches contains i if {
	some i, rule in _rules
	rule.action in _actions
	_conditioned(rule)
}

# METADATA
# title: The actions of the API
_actions := {"FailJob", "Ignore", "Count"} if {
	fields.text(input, "kubernetes") != ""
	[major, minor] := [to_number(part) | some part in split(input.kubernetes, ".")]
	major == 1
	minor < 29
} else := {"FailJob", "Ignore", "Count", "FailIndex"}

_rules := fields.list(fields.child(input, "policy"), "rules")

_rule := _rules[min(matches)]

_status := fields.child(input.pod, "status")

_exited(rule) if _exits(rule)[0]

_conditioned(rule) if _patterned(rule)[0]

# Containers first, then init containers, in the order of the pod's status.
_exits(rule) := [container |
	some list in ["containerStatuses", "initContainerStatuses"]
	some container in fields.list(_status, list)
	_satisfies(container, rule.onExitCodes)
]

_satisfies(container, requirement) if {
	code := fields.number(container.state.terminated, "exitCode")
	code != 0
	fields.value(requirement, "containerName") in {null, fields.text(container, "name")}
	operators.takes(requirement.operator, code, fields.list(requirement, "values"))
}

# Exit codes go first where, against the API's validation, a rule has both.
_patterned(rule) := [condition |
	not fields.given(rule, "onExitCodes")
	some condition in fields.list(_status, "conditions")
	some pattern in fields.list(rule, "onPodConditions")
	fields.text(pattern, "type") == fields.text(condition, "type")
	fields.text(pattern, "status") == fields.text(condition, "status")
]

_by_exit_code := {"container": fields.text(container, "name"), "exitCode": container.state.terminated.exitCode} if {
	container := _exits(_rule)[0]
} else := {}

_by_condition := {"condition": fields.text(condition, "type")} if {
	condition := _patterned(_rule)[0]
} else := {}

_message := sprintf("Container %s for pod %s failed with exit code %d matching %s rule at index %d", [
	fields.text(container, "name"),
	_pod,
	container.state.terminated.exitCode,
	_rule.action,
	min(matches),
]) if {
	container := _exits(_rule)[0]
} else := sprintf("Pod %s has condition %s matching %s rule at index %d", [
	_pod,
	fields.text(_patterned(_rule)[0], "type"),
	_rule.action,
	min(matches),
])

_pod := sprintf("%s/%s", [fields.text(metadata, "namespace"), fields.text(metadata, "name")]) if {
	metadata := fields.child(input.pod, "metadata")
}
