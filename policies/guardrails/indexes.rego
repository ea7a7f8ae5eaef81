package podverdict.guardrails

# Indexed Jobs: one index's failure is not the failure of all.

# METADATA
# title: Long Indexed Jobs have a limit for each index
# description: |
#   One backoffLimit for all indexes ends a Job of a thousand indexes after the seventh
#   failure anywhere, and the indexes that have not run yet never run.
# custom:
#   id: G-INDEX-LIMIT
#   kep: KEP-3850 Story 1
#   field: spec.backoffLimitPerIndex
#   parameters:
#     minCompletions: completions from which on it is asked for
breaches["G-INDEX-LIMIT"] contains _in_spec("backoffLimitPerIndex") if {
	_indexed
	_completions >= config["G-INDEX-LIMIT"].minCompletions
	not _per_index
}

# METADATA
# title: Retries of an index are few
# description: |
#   With backoffLimitPerIndex the Job's backoffLimit is practically infinite: the retries of
#   all indexes together are this number times the completions.
# custom:
#   id: G-INDEX-LIMIT-MAX
#   kep: KEP-3850 Story 1
#   field: spec.backoffLimitPerIndex
#   parameters:
#     max: highest backoffLimitPerIndex
breaches["G-INDEX-LIMIT-MAX"] contains _spec_field("backoffLimitPerIndex") if {
	_per_index
	_job.spec.backoffLimitPerIndex > config["G-INDEX-LIMIT-MAX"].max
}

# METADATA
# title: A Job stops when too many indexes fail
# description: |
#   With backoffLimitPerIndex every index runs to its own end. When all fail for one reason,
#   a broken build for instance, only maxFailedIndexes cuts the cost.
# custom:
#   id: G-INDEX-FAILED-MAX
#   kep: KEP-3850 Story 3
#   field: spec.maxFailedIndexes
#   parameters:
#     minCompletions: completions from which on it is asked for
#     maxPercent: highest maxFailedIndexes in percent of completions
breaches["G-INDEX-FAILED-MAX"] contains _spec_field("maxFailedIndexes") if {
	_per_index
	_completions >= config["G-INDEX-FAILED-MAX"].minCompletions
	not _stops_in_time
}

_stops_in_time if {
	is_number(_job.spec.maxFailedIndexes)
	_job.spec.maxFailedIndexes * 100 <= _completions * config["G-INDEX-FAILED-MAX"].maxPercent
}

# METADATA
# title: An index that cannot succeed fails alone
# description: |
#   Where indexes are independent, an exit code says something about its own index. FailJob
#   throws away what the other indexes have done; FailIndex ends the one.
# custom:
#   id: G-INDEX-FAIL-INDEX
#   kep: KEP-3850 Story 2
#   field: spec.podFailurePolicy.rules[*].action
breaches["G-INDEX-FAIL-INDEX"] contains _in_rule(i, ".action") if {
	_per_index
	some i, _ in _exit_codes
	_rules[i].action == "FailJob"
}

# METADATA
# title: A limit for each index needs failed Pods
# description: |
#   The API documents that backoffLimitPerIndex needs restartPolicy Never and does not check
#   it. With OnFailure the kubelet restarts containers and the retries of an index are not counted.
# custom:
#   id: G-INDEX-RESTART-NEVER
#   kep: KEP-3850 Non-Goals
#   field: spec.template.spec.restartPolicy
breaches["G-INDEX-RESTART-NEVER"] contains _in_spec("template.spec.restartPolicy") if {
	_per_index
	_restarts_in_place
}
