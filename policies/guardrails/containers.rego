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
#   severity: error
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
#   severity: warning
breaches["G-SIDECAR-TARGET"] contains _in_rule(i, ".onExitCodes.containerName") if {
	some i, exit_codes in _exit_codes
	exit_codes.containerName in _sidecars
}

# METADATA
# title: Failures are decided in one place
# description: |
#   A container's restartPolicyRules are applied by the kubelet, and a restart there is not
#   a Pod failure: the rules of podFailurePolicy never see the exit codes that they take.
# custom:
#   id: G-RESTART-RULES
#   kep: KEP-5307
#   field: spec.template.spec.containers[*].restartPolicyRules
#   severity: warning
breaches["G-RESTART-RULES"] contains _in_container(list, i, "restartPolicyRules") if {
	some [list, i], container in _containers
	container.restartPolicyRules[0]
	count(_rules) > 0
}

# METADATA
# title: No container restarts behind the policy's back
# description: |
#   The API checks the Pod's restartPolicy only. A container with its own OnFailure or
#   Always is restarted in place, whatever podFailurePolicy says about its exit code.
# custom:
#   id: G-CONTAINER-RESTART
#   kep: KEP-5307
#   field: spec.template.spec.containers[*].restartPolicy
#   severity: warning
breaches["G-CONTAINER-RESTART"] contains _in_container(list, i, "restartPolicy") if {
	some [list, i], container in _containers
	container.restartPolicy in {"OnFailure", "Always"}
	not _is_sidecar(list, container)
	count(_rules) > 0
}
