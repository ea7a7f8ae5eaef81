package podverdict.guardrails

# What becomes of Pods that the cluster takes away: drained, evicted, preempted.

# METADATA
# title: Disruptions are ignored or counted on purpose
# description: |
#   A policy that does not mention the DisruptionTarget condition lets node drains use up
#   the retries that are meant for the program's failures, or end the Job by an exit-code rule.
# custom:
#   id: G-DISRUPTION-HANDLED
#   kep: KEP-3329 Story 2, Story 3
#   field: spec.podFailurePolicy.rules
breaches["G-DISRUPTION-HANDLED"] contains _in_spec("podFailurePolicy.rules") if {
	count(_rules) > 0
	count(_disruption_rules) == 0
}

# METADATA
# title: A disruption ends neither Job nor index
# description: |
#   A disruption is the cluster's doing and says nothing about the program. Whether it is
#   ignored (retries without bound) or counted (bounded) is the platform's choice.
# custom:
#   id: G-DISRUPTION-ACTION
#   kep: KEP-3329 Story 2, Story 3
#   field: spec.podFailurePolicy.rules[*].action
#   parameters:
#     actions: the actions that rules for disruptions may have
breaches["G-DISRUPTION-ACTION"] contains _in_rule(i, ".action") if {
	some i in _disruption_rules
	not _rules[i].action in config["G-DISRUPTION-ACTION"].actions
}

# METADATA
# title: Rules for disruptions come before exit codes
# description: |
#   The first matching rule decides. A disrupted Pod's containers are killed, so that an
#   exit-code rule that takes 137 or 143 gets the Pod before a later DisruptionTarget rule.
# custom:
#   id: G-DISRUPTION-FIRST
#   kep: KEP-3329 JobSpec API
#   field: spec.podFailurePolicy.rules[*].onPodConditions
#   parameters:
#     codes: exit codes of containers that were told to stop
breaches["G-DISRUPTION-FIRST"] contains _in_rule(i, ".onPodConditions") if {
	some i in _disruption_rules
	some j, exit_codes in _exit_codes
	j < i
	_takes(exit_codes, config["G-DISRUPTION-FIRST"].codes)
	_rules[j].action != _rules[i].action
}
