package podverdict.jobstatus

import data.podverdict.fields

# METADATA
# title: Counters are not negative
# custom:
#   id: ST1
#   kep: KEP-4368
#   field: status.active, status.succeeded, status.failed, status.ready, status.terminating
#   severity: error
findings contains fields.invalid("ST1", _at(name), status[name], "must be greater than or equal to 0") if {
	some name in ["active", "succeeded", "failed", "ready", "terminating"]
	status[name] < 0
}

# METADATA
# title: Pods to be counted have a UID
# custom:
#   id: ST2
#   kep: KEP-4368
#   field: status.uncountedTerminatedPods
#   severity: error
findings contains fields.invalid("ST2", _at_uncounted(list, i), "", "must not be empty") if {
	some [list, i, ""] in _uids
}

# METADATA
# title: Pods are to be counted once
# description: Within and across the two lists.
# custom:
#   id: ST3
#   kep: KEP-4368
#   field: status.uncountedTerminatedPods
#   severity: error
findings contains fields.duplicate("ST3", _at_uncounted(list, i), uid) if {
	count(_uids) != count({uid | some [_, _, uid] in _uids})
	some k, [list, i, uid] in _uids
	uid != ""
	some j in numbers.range(0, k - 1)
	j < k
	_uids[j][2] == uid
}

# METADATA
# title: The failed counter does not decrease
# custom:
#   id: ST10
#   kep: KEP-4368
#   field: status.failed
#   severity: error
findings contains fields.invalid("ST10", "status.failed", failed, "cannot decrease the failed counter") if {
	failed := fields.number(status, "failed")
	failed < fields.number(old_status, "failed")
}

# METADATA
# title: The succeeded counter does not decrease
# description: But for an elastic Indexed Job, where completions equals parallelism.
# custom:
#   id: ST11
#   kep: KEP-4368
#   field: status.succeeded
#   severity: error
findings contains fields.invalid("ST11", "status.succeeded", succeeded, "cannot decrease the succeeded counter") if {
	succeeded := fields.number(status, "succeeded")
	succeeded < fields.number(old_status, "succeeded")
	not _elastic
}

# METADATA
# title: A finished Job has no active pods
# custom:
#   id: ST20
#   kep: KEP-4368
#   field: status.active
#   severity: error
findings contains fields.invalid("ST20", "status.active", status.active, "active>0 is invalid for finished job") if {
	finished
	_settling("active")
	status.active > 0
}

# METADATA
# title: A finished Job has counted all its pods
# custom:
#   id: ST22
#   kep: KEP-4368
#   field: status.uncountedTerminatedPods
#   severity: error
findings contains fields.invalid_rendered(
	"ST22", _at("uncountedTerminatedPods"), uncounted, _rendered_uncounted(uncounted),
	"must be empty for finished job",
) if {
	finished
	_settling("uncountedTerminatedPods")
	count(_uids) > 0
	uncounted := status.uncountedTerminatedPods
}

# METADATA
# title: A finished Job has no terminating pods
# custom:
#   id: ST23
#   kep: KEP-3939
#   field: status.terminating
#   severity: error
findings contains fields.invalid("ST23", "status.terminating", status.terminating, "terminating>0 is invalid for finished job") if {
	finished
	_settling("terminating")
	status.terminating > 0
}

# METADATA
# title: Ready pods are active
# custom:
#   id: ST24
#   kep: KEP-4368
#   field: status.ready
#   severity: error
findings contains fields.invalid("ST24", "status.ready", status.ready, "cannot set more ready pods than active") if {
	_ready_or_active_changed
	status.ready > fields.number(status, "active")
}

_ready_or_active_changed if {
	some name in ["ready", "active"]
	_changed(name)
}

_elastic if {
	indexed
	fields.value(spec, "completions") == fields.value(spec, "parallelism")
}

# True when the Job finishes, or the member changes in a finished Job.
_settling(_) if _finishing

_settling(name) if _changed(name)

# [list, position, UID], in the order in which the API server reads them.
_uids := [[list, i, uid] |
	some list in _uncounted_lists
	some i, uid in fields.list(fields.child(status, "uncountedTerminatedPods"), list)
]

_at_uncounted(list, i) := sprintf("status.uncountedTerminatedPods.%s[%d]", [list, i])

_rendered_uncounted(uncounted) := sprintf(`{"Succeeded":%s,"Failed":%s}`, [
	json.marshal(fields.value(uncounted, "succeeded")),
	json.marshal(fields.value(uncounted, "failed")),
])
