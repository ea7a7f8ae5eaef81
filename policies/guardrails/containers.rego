package podverdict.guardrails

# Containers whose ends the Job's policy does not see, or should not look at.

# METADATA
# title: Exit-code rules do not take sidecars by accident
# description: |
#   A restartable init container is killed when the main containers are done, and the Job
#   controller does not exempt its 137 or 143: a rule without containerName takes it.
# custom:
#   id: G-SIDECAR-UNNAMED
#   kep: KEP-3329 JobSpec API
#   field: spec.podFailurePolicy.rules[*].onExitCodes.containerName
breaches["G-SIDECAR-UNNAMED"] contains _in_rule(i, ".onExitCodes.containerName") if {
	some i, exit_codes in _exit_codes
	not _names_container(exit_codes)
	count(_sidecars) > 0
}

# METADATA
# title: A sidecar's exit code decides nothing
# description: |
#   How a sidecar ends depends on when the main containers end and on the grace period, not
#   on the work: its exit code is noise.
# custom:
#   id: G-SIDECAR-TARGET
#   kep: KEP-753
#   field: spec.podFailurePolicy.rules[*].onExitCodes.containerName
breaches["G-SIDECAR-TARGET"] contains _in_rule(i, ".onExitCodes.containerName") if {
	some i, exit_codes in _exit_codes
	exit_codes.containerName in _sidecars
}
