package podverdict.jobstatus

import data.podverdict.fields
import data.podverdict.indexes

# METADATA
# title: What the API server lets pass, but a controller must keep
# scope: document
# entrypoint: true

# METADATA
# title: Successes are the completed indexes
# custom:
#   id: SN1
#   kep: KEP-2214
#   field: status.succeeded
#   severity: error
unenforced contains fields.invalid("SN1", "status.succeeded", succeeded, detail) if {
	indexed
	completed := fields.text(status, "completedIndexes")
	not indexes.fault(completed, spec.completions)
	succeeded := fields.number(status, "succeeded")
	total := indexes.total(completed, spec.completions)
	succeeded != total
	detail := sprintf("must be %d, the number of completedIndexes", [total])
}

# METADATA
# title: No more successes than completions
# custom:
#   id: SN2
#   kep: batch/v1
#   field: status.succeeded
#   severity: error
unenforced contains fields.invalid("SN2", "status.succeeded", status.succeeded, detail) if {
	status.succeeded > spec.completions
	status.succeeded > fields.number(old_status, "succeeded")
	detail := sprintf("must be less than or equal to %d, the completions", [spec.completions])
}

# METADATA
# title: No more active pods than parallelism
# description: After parallelism was lowered, active pods only get fewer.
# custom:
#   id: SN3
#   kep: batch/v1
#   field: status.active
#   severity: error
unenforced contains fields.invalid("SN3", "status.active", status.active, detail) if {
	status.active > spec.parallelism
	status.active > fields.number(old_status, "active")
	detail := sprintf("must be less than or equal to %d, the parallelism", [spec.parallelism])
}

# METADATA
# title: A complete Job had a success
# description: But for one with no completions, or with a success policy.
# custom:
#   id: SN4
#   kep: batch/v1
#   field: status.succeeded
#   severity: error
unenforced contains fields.invalid("SN4", "status.succeeded", 0, "must be greater than 0 for a complete Job") if {
	"Complete" in (conditions - old_conditions)
	fields.value(spec, "completions") != 0
	not fields.given(spec, "successPolicy")
	fields.number(status, "succeeded") == 0
}

# METADATA
# title: Completed indexes stay
# description: As long as they are below completions, and there are 100000 at most.
# custom:
#   id: SN5
#   kep: KEP-2214
#   field: status.completedIndexes
#   severity: error
unenforced contains _lost("SN5", "completedIndexes") if _changed("completedIndexes")

# METADATA
# title: Failed indexes stay
# description: As long as they are below completions, and there are 100000 at most.
# custom:
#   id: SN6
#   kep: KEP-3850
#   field: status.failedIndexes
#   severity: error
unenforced contains _lost("SN6", "failedIndexes") if _changed("failedIndexes")

# METADATA
# title: A Job is about to fail before it fails
# custom:
#   id: SN7
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
unenforced contains _conditions("SN7", "FailureTarget=True must be set in an earlier write than Failed=True") if {
	"Failed" in (conditions - old_conditions)
	not "FailureTarget" in old_conditions
}

# METADATA
# title: A Job meets its success criteria before it completes
# custom:
#   id: SN8
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
unenforced contains _conditions("SN8", "SuccessCriteriaMet=True must be set in an earlier write than Complete=True") if {
	"Complete" in (conditions - old_conditions)
	not "SuccessCriteriaMet" in old_conditions
}

# METADATA
# title: A terminal condition does not change
# custom:
#   id: SN9
#   kep: KEP-4368
#   field: status.conditions[*]
#   severity: error
unenforced contains fields.invalid(
	"SN9", sprintf("status.conditions[%d].%s", [i, member]), fields.value(condition, member),
	"must not change in a terminal condition",
) if {
	some i, condition in fields.list(status, "conditions")
	condition.status == "True"
	condition.type in {"Complete", "Failed"}
	some old_condition in fields.list(old_status, "conditions")
	old_condition.status == "True"
	old_condition.type == condition.type
	some member in ["reason", "message", "lastTransitionTime"]
	fields.text(condition, member) != fields.text(old_condition, member)
}

# METADATA
# title: Conditions are there once
# custom:
#   id: SN10
#   kep: KEP-4368
#   field: status.conditions[*].type
#   severity: error
unenforced contains fields.duplicate("SN10", sprintf("status.conditions[%d].type", [i]), condition.type) if {
	some i, condition in fields.list(status, "conditions")
	some j, other in status.conditions
	j < i
	other.type == condition.type
}

# METADATA
# title: Conditions are known
# description: A controller that Jobs are handed to by spec.managedBy may have conditions of its own, by the name of its domain.
# custom:
#   id: SN11
#   kep: KEP-4368
#   field: status.conditions[*]
#   severity: error
unenforced contains fields.unsupported(
	"SN11", sprintf("status.conditions[%d].%s", [i, member]), fields.text(condition, member),
	known,
) if {
	some i, condition in fields.list(status, "conditions")
	some member, known in {
		"status": ["False", "True", "Unknown"],
		"type": ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"],
	}
	not fields.text(condition, member) in known
	not _own(condition, member)
}

_own(condition, "type") if regex.match(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]`, fields.text(condition, "type"))

# METADATA
# title: Indexes are written as the Job controller does
# custom:
#   id: SN12
#   kep: KEP-2214
#   field: status.completedIndexes, status.failedIndexes
#   severity: error
unenforced contains fields.invalid(
	"SN12", _at(name), status[name],
	"must be in canonical form, such as 0,1,3-5",
) if {
	some name in ["completedIndexes", "failedIndexes"]
	_changed(name)
	fields.given(status, name)
	not indexes.fault(status[name], spec.completions)
	not indexes.canonical(status[name], spec.completions)
}

_lost(id, name) := fields.invalid(id, _at(name), fields.value(status, name), detail) if {
	kept := indexes.members(fields.text(status, name), spec.completions)
	lost := indexes.members(fields.text(old_status, name), spec.completions) - kept
	lost != set()
	detail := sprintf("must keep index %d", [min(lost)])
}
