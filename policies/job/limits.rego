package podverdict.job

import data.podverdict.fields

# METADATA
# title: What the API server refuses
# scope: document
# entrypoint: true

# METADATA
# title: Parallelism is not negative
# custom:
#   id: P1
#   kep: batch/v1
#   field: spec.parallelism
#   severity: error
findings contains _negative("P1", "parallelism") if spec.parallelism < 0

# METADATA
# title: Completions are not negative
# custom:
#   id: P2
#   kep: batch/v1
#   field: spec.completions
#   severity: error
findings contains _negative("P2", "completions") if spec.completions < 0

# METADATA
# title: The deadline is not negative
# description: 0 is accepted, although the documentation asks for a positive number.
# custom:
#   id: P3
#   kep: batch/v1
#   field: spec.activeDeadlineSeconds
#   severity: error
findings contains _negative("P3", "activeDeadlineSeconds") if spec.activeDeadlineSeconds < 0

# METADATA
# title: The back-off limit is not negative
# custom:
#   id: P4
#   kep: batch/v1
#   field: spec.backoffLimit
#   severity: error
findings contains _negative("P4", "backoffLimit") if spec.backoffLimit < 0

# METADATA
# title: The time to live is not negative
# custom:
#   id: P5
#   kep: KEP-592
#   field: spec.ttlSecondsAfterFinished
#   severity: error
findings contains _negative("P5", "ttlSecondsAfterFinished") if spec.ttlSecondsAfterFinished < 0

# METADATA
# title: Parallelism of an Indexed Job is bounded
# custom:
#   id: P6
#   kep: KEP-2214
#   field: spec.parallelism
#   severity: error
findings contains fields.invalid(
	"P6", at("parallelism"), spec.parallelism,
	"must be less than or equal to 100000 when completion mode is Indexed",
) if {
	indexed
	spec.parallelism > 100000
}

# METADATA
# title: Parallelism is low where there are very many indexes with limits of their own
# custom:
#   id: P7
#   kep: KEP-3850
#   field: spec.parallelism
#   severity: error
findings contains _above_large_limit("P7", "parallelism") if {
	large_with_limit_per_index
	spec.parallelism > 10000
}

# METADATA
# title: What the API server accepts with a warning
# scope: document
# entrypoint: true

# METADATA
# title: Very many indexes with high parallelism may not be tracked
# custom:
#   id: P8
#   kep: KEP-3850
#   field: spec
#   severity: warning
warnings contains {"id": "P8", "field": root, "type": "Warning", "detail": detail, "msg": sprintf("%s: %s", [root, detail])} if {
	indexed
	spec.completions > 100000
	spec.parallelism > 10000
	_spec_changed
	detail := concat(" ", [
		"In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4,",
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
	])
}

# METADATA
# title: More than 100000 indexes, with a back-off limit for each
large_with_limit_per_index if {
	indexed
	spec.completions > 100000
	fields.given(spec, "backoffLimitPerIndex")
}

_spec_changed if not stored

_spec_changed if {
	is_job
	_comparable(spec) != _comparable(old_spec)
}

_spec_changed if {
	is_cronjob
	fields.value(submitted, "spec") != fields.value(stored, "spec")
}

_negative(id, name) := fields.invalid(id, at(name), spec[name], "must be greater than or equal to 0")

_above_large_limit(id, name) := fields.invalid(
	id, at(name), spec[name],
	"must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
)
