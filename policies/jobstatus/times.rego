package podverdict.jobstatus

import data.podverdict.fields

# METADATA
# title: The completion time stays
# custom:
#   id: ST12
#   kep: KEP-4368
#   field: status.completionTime
#   severity: error
findings contains _wrong_completion_time("ST12", "field is immutable") if {
	fields.given(status, "completionTime")
	fields.given(old_status, "completionTime")
	_changed("completionTime")
}

# METADATA
# title: Only a complete Job has a completion time
# custom:
#   id: ST15
#   kep: KEP-4368
#   field: status.completionTime
#   severity: error
findings contains _wrong_completion_time("ST15", "cannot set completionTime when there is no Complete=True condition") if {
	_completion_changed
	fields.given(status, "completionTime")
	not "Complete" in conditions
}

# METADATA
# title: A complete Job has a completion time
# custom:
#   id: ST16
#   kep: KEP-4368
#   field: status.completionTime
#   severity: error
findings contains fields.required("ST16", "status.completionTime", "completionTime is required for Complete jobs") if {
	_completion_changed
	"Complete" in conditions
	not fields.given(status, "completionTime")
}

# METADATA
# title: A Job completes after its start
# custom:
#   id: ST17
#   kep: KEP-4368
#   field: status.completionTime
#   severity: error
findings contains _wrong_completion_time("ST17", "must be equal to or after `startTime`") if {
	_start_or_completion_time_changed
	fields.given(status, "startTime")
	_time(status, "completionTime") < _time(status, "startTime")
	fields.given(status, "completionTime")
}

# METADATA
# title: A finished Job has started
# description: A suspended Job with no completions finishes without.
# custom:
#   id: ST21
#   kep: KEP-4368
#   field: status.startTime
#   severity: error
findings contains fields.required("ST21", "status.startTime", "startTime is required for finished job") if {
	finished
	_settling("startTime")
	not fields.given(status, "startTime")
	not _nothing_to_start
}

# METADATA
# title: The start time stays while the Job is not suspended
# description: The write that takes back the Suspended condition may set it.
# custom:
#   id: ST30
#   kep: KEP-4368
#   field: status.startTime
#   severity: error
findings contains fields.invalid(
	"ST30", "status.startTime", _printed("startTime"),
	"field is immutable for unsuspended job once set",
) if {
	fields.given(old_status, "startTime")
	_changed("startTime")
	not spec.suspend
	not _resuming
}

_completion_changed if _flips({"Complete"})

_completion_changed if _changed("completionTime")

_start_or_completion_time_changed if {
	some name in ["startTime", "completionTime"]
	_changed(name)
}

_nothing_to_start if {
	spec.suspend == true
	spec.completions == 0
}

_resuming if {
	"Suspended" in old_conditions
	some condition in fields.list(status, "conditions")
	condition.type == "Suspended"
	condition.status == "False"
}

_wrong_completion_time(id, detail) := fields.invalid(id, "status.completionTime", _printed("completionTime"), detail)
