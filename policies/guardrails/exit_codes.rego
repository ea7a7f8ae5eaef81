package podverdict.guardrails

# Which exit codes may decide, and of which container.

# METADATA
# title: A killed container does not end the Job
# description: |
#   137 and 143 are SIGKILL and SIGTERM: drains, evictions, preemptions and memory limits
#   look alike. A rule that ends the Job or the index on them makes a disruption fatal.
# custom:
#   id: G-KILL-CODES
#   kep: KEP-3329 Container memory limit exceeded
#   field: spec.podFailurePolicy.rules[*].onExitCodes.values
#   parameters:
#     codes: exit codes of containers that were told to stop
#     unlessDisruptionHandled: allow it where the policy has a rule for disruptions
breaches["G-KILL-CODES"] contains _in_rule(i, ".onExitCodes.values") if {
	some i, exit_codes in _exit_codes
	_rules[i].action in {"FailJob", "FailIndex"}
	_takes(exit_codes, config["G-KILL-CODES"].codes)
	not _killed_by_program
}

# Where disruptions have a rule of their own, the codes are what the program or its
# memory limit made of it.
_killed_by_program if {
	config["G-KILL-CODES"].unlessDisruptionHandled
	count(_disruption_rules) > 0
}

# METADATA
# title: A rule for all exit codes comes last
# description: |
#   Rules after one that takes every non-zero exit code of every container look as if they
#   did something, and decide nothing for a Pod whose container failed.
# custom:
#   id: G-CATCH-ALL-LAST
#   kep: KEP-3329 JobSpec API
#   field: spec.podFailurePolicy.rules[*]
breaches["G-CATCH-ALL-LAST"] contains _in_rule(i, "") if {
	some i, exit_codes in _exit_codes
	i < count(_rule_list) - 1
	exit_codes.operator == "NotIn"
	not _names_container(exit_codes)
	every code in exit_codes.values {
		code == 0
	}
}

# METADATA
# title: Exit-code rules name the container
# description: |
#   Without containerName the code of any container decides, and the same number rarely
#   means the same in two programs.
# custom:
#   id: G-CONTAINER-NAMED
#   kep: KEP-3329 JobSpec API
#   field: spec.podFailurePolicy.rules[*].onExitCodes.containerName
breaches["G-CONTAINER-NAMED"] contains _in_rule(i, ".onExitCodes.containerName") if {
	some i, exit_codes in _exit_codes
	not _names_container(exit_codes)
	count([name | some ["containers", name], _ in _containers]) > 1
}
