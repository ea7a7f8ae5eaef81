# METADATA
# scope: package
# title: Transitions of a Job's status
# description: |
#   What a write to the status of a Job must keep. The input is {old, new}, two Jobs.
#   `findings` holds what the API server of Kubernetes 1.37 refuses, `unenforced` what it
#   lets pass but its own controller keeps, and other controllers should too.
#   Most rules look only at what changes: a fault that is there already does not block
#   other writes. Stored Jobs have their defaults, so none are applied here.
package podverdict.jobstatus

import data.podverdict.fields

# METADATA
# title: The spec
# description: A write to the status does not change it.
spec := _members(input.old, "spec")

# METADATA
# title: The new status
status := _members(input.new, "status")

# METADATA
# title: The old status
old_status := _members(input.old, "status")

# METADATA
# title: The types of the new conditions that are true
conditions := _true(status)

# METADATA
# title: The types of the old conditions that are true
old_conditions := _true(old_status)

# METADATA
# title: The types of the conditions that become true or stop to be
flipped := (conditions - old_conditions) | (old_conditions - conditions)

finished if conditions & {"Complete", "Failed"} != set()

_old_finished if old_conditions & {"Complete", "Failed"} != set()

# The Job finishes in this write.
_finishing if {
	finished
	not _old_finished
}

indexed if spec.completionMode == "Indexed"

# Null is absent.
_members(parent, name) := {key: member |
	some key, member in fields.child(parent, name)
	member != null
}

_true(some_status) := {condition.type |
	some condition in fields.list(some_status, "conditions")
	condition.status == "True"
}

# True when a member changes; absent and null are the same, and for counters 0.
_changed(name) if {
	name in {"startTime", "completionTime"}
	_time(status, name) != _time(old_status, name)
}

_changed(name) if {
	name in {"ready", "terminating", "failedIndexes"}
	fields.value(status, name) != fields.value(old_status, name)
}

_changed("active") if fields.number(status, "active") != fields.number(old_status, "active")

_changed("completedIndexes") if fields.text(status, "completedIndexes") != fields.text(old_status, "completedIndexes")

_changed("uncountedTerminatedPods") if _uncounted(status) != _uncounted(old_status)

# Nanoseconds, so that times in different zones can be compared; a text that is no time as it is.
_time(some_status, name) := time.parse_rfc3339_ns(some_status[name]) if {
	time.parse_rfc3339_ns(some_status[name])
} else := fields.value(some_status, name)

# A time as the API server prints it.
_printed(name) := time.format([_time(status, name), "UTC", "2006-01-02T15:04:05Z07:00"]) if {
	time.format([_time(status, name), "UTC", "2006-01-02T15:04:05Z07:00"])
} else := fields.value(status, name)

_uncounted(some_status) := null if {
	not fields.given(some_status, "uncountedTerminatedPods")
} else := {list: fields.list(some_status.uncountedTerminatedPods, list) | some list in _uncounted_lists}

_uncounted_lists := ["succeeded", "failed"]

_conditions(id, detail) := fields.invalid_whole(id, "status.conditions", detail)

_at(name) := sprintf("status.%s", [name])
