package podverdict.jobstatus

import data.podverdict.fields
import data.podverdict.indexes

# METADATA
# title: Completed indexes are increasing and exist
# custom:
#   id: ST25
#   kep: KEP-2214
#   field: status.completedIndexes
#   severity: error
findings contains fields.invalid_text(
	"ST25", "status.completedIndexes", status.completedIndexes,
	sprintf("error parsing completedIndexes: %s", [fault]),
) if {
	_changed("completedIndexes")
	fault := indexes.fault(status.completedIndexes, spec.completions)
}

# METADATA
# title: Failed indexes are increasing and exist
# custom:
#   id: ST26
#   kep: KEP-3850
#   field: status.failedIndexes
#   severity: error
findings contains fields.invalid(
	"ST26", "status.failedIndexes", status.failedIndexes,
	sprintf("error parsing failedIndexes: %s", [fault]),
) if {
	_changed("failedIndexes")
	fields.given(spec, "backoffLimitPerIndex")
	fault := indexes.fault(status.failedIndexes, spec.completions)
}

# METADATA
# title: Only Indexed Jobs have completed indexes
# custom:
#   id: ST27
#   kep: KEP-2214
#   field: status.completedIndexes
#   severity: error
findings contains fields.invalid_text(
	"ST27", "status.completedIndexes", status.completedIndexes,
	"cannot set non-empty completedIndexes when non-indexed completion mode",
) if {
	_changed("completedIndexes")
	not indexed
	fields.text(status, "completedIndexes") != ""
}

# METADATA
# title: Only Jobs with a limit per index have failed indexes
# description: Not even an empty text.
# custom:
#   id: ST28
#   kep: KEP-3850
#   field: status.failedIndexes
#   severity: error
findings contains fields.invalid_text(
	"ST28", "status.failedIndexes", status.failedIndexes,
	"cannot set non-null failedIndexes when backoffLimitPerIndex is null",
) if {
	_changed("failedIndexes")
	fields.given(status, "failedIndexes")
	not fields.given(spec, "backoffLimitPerIndex")
}

# METADATA
# title: An index is completed or failed
# custom:
#   id: ST29
#   kep: KEP-3850
#   field: status.failedIndexes
#   severity: error
findings contains fields.invalid_text(
	"ST29", "status.failedIndexes", status.failedIndexes,
	sprintf("failedIndexes and completedIndexes overlap at index: %d", [index]),
) if {
	_indexes_changed
	index := indexes.overlap(fields.text(status, "completedIndexes"), status.failedIndexes, spec.completions)
}

_indexes_changed if {
	some name in ["completedIndexes", "failedIndexes"]
	_changed(name)
}
