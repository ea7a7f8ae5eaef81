package podverdict.guardrails

# Nothing runs, retries or stays for ever, and nothing takes the whole cluster.

# METADATA
# title: Ignored failures have a deadline
# description: |
#   An ignored failure is retried and never counted, so that a Pod which always fails that
#   way is replaced for ever. Only activeDeadlineSeconds ends such a Job.
# custom:
#   id: G-IGNORE-BOUNDED
#   kep: KEP-3329 Story 3
#   field: spec.podFailurePolicy.rules[*].action
#   parameters:
#     includeDisruptions: ask it of rules for disruptions too
breaches["G-IGNORE-BOUNDED"] contains _in_rule(i, ".action") if {
	some i, rule in _rules
	rule.action == "Ignore"
	not _has_deadline
	not _may_repeat(i)
}

_may_repeat(i) if {
	i in _pure_disruption_rules
	not config["G-IGNORE-BOUNDED"].includeDisruptions
}

# METADATA
# title: Jobs have a deadline
# description: |
#   A Job that hangs, or whose Pods never start, holds its resources until somebody looks.
#   The API accepts 0, which fails the Job before it has done anything.
# custom:
#   id: G-DEADLINE
#   kep: KEP-3329 Story 1
#   field: spec.activeDeadlineSeconds
#   parameters:
#     min: shortest deadline in seconds
#     max: longest deadline in seconds
breaches["G-DEADLINE"] contains _spec_field("activeDeadlineSeconds") if {
	not _ends_in_time
}

_ends_in_time if {
	_job.spec.activeDeadlineSeconds >= config["G-DEADLINE"].min
	_job.spec.activeDeadlineSeconds <= config["G-DEADLINE"].max
}

# METADATA
# title: Finished Jobs are removed, but not at once
# description: |
#   Finished Jobs and their Pods fill the API server until somebody deletes them; with a
#   very small value nobody can read why a Job failed. Jobs that an owner removes (those of
#   a CronJob, a JobSet) need no value.
# custom:
#   id: G-TTL
#   kep: KEP-592
#   field: spec.ttlSecondsAfterFinished
#   parameters:
#     min: shortest time in seconds
#     max: longest time in seconds
breaches["G-TTL"] contains _spec_field("ttlSecondsAfterFinished") if {
	not _removed_in_time
	not _removed_by_owner
}

_removed_in_time if {
	_job.spec.ttlSecondsAfterFinished >= config["G-TTL"].min
	_job.spec.ttlSecondsAfterFinished <= config["G-TTL"].max
}

_removed_by_owner if {
	not _has_ttl
	_is_owned
}

_is_owned if _object.kind == "CronJob"

_is_owned if {
	some owner in _object.metadata.ownerReferences
	owner.controller == true
}

# METADATA
# title: Retries are few
# description: |
#   The delay between retries is capped at ten minutes, so that a large backoffLimit repeats
#   a failure for hours and days. Failures that are worth it can be ignored by a rule.
# custom:
#   id: G-BACKOFF-LIMIT
#   kep: KEP-3329 Story 1
#   field: spec.backoffLimit
#   parameters:
#     max: highest backoffLimit of Jobs without backoffLimitPerIndex
breaches["G-BACKOFF-LIMIT"] contains _spec_field("backoffLimit") if {
	not _per_index
	_backoff_limit > config["G-BACKOFF-LIMIT"].max
}

# METADATA
# title: No Job takes the whole cluster
# description: |
#   All Pods of the parallelism are created at once: a slip of the keyboard floods scheduler,
#   quota and API server.
# custom:
#   id: G-PARALLELISM
#   kep: KEP-3850 Risks and Mitigations
#   field: spec.parallelism
#   parameters:
#     max: highest parallelism
breaches["G-PARALLELISM"] contains _spec_field("parallelism") if {
	_parallelism > config["G-PARALLELISM"].max
}

# METADATA
# title: Success needs something to succeed
# description: |
#   The API accepts succeededCount 0 although it is documented as positive: the Job succeeds
#   before a single index has.
# custom:
#   id: G-SUCCESS-COUNT
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededCount
breaches["G-SUCCESS-COUNT"] contains _in_spec(sprintf("successPolicy.rules[%d].succeededCount", [i])) if {
	is_array(_job.spec.successPolicy.rules)
	some i, rule in _job.spec.successPolicy.rules
	rule.succeededCount == 0
}
