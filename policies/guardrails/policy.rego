package podverdict.guardrails

# Whether there is a policy at all, and whether failures get to it.

# METADATA
# title: Jobs have a podFailurePolicy
# description: |
#   Without rules, a node drain and a bug in the code both use up the backoffLimit: good
#   runs are lost to disruptions and hopeless ones are repeated.
# custom:
#   id: G-POLICY-REQUIRED
#   kep: KEP-3329 Motivation
#   field: spec.podFailurePolicy
breaches["G-POLICY-REQUIRED"] contains _in_spec("podFailurePolicy") if {
	not _restarts_in_place
	count(_rules) == 0
}

# METADATA
# title: Failed containers are left to the Job controller
# description: |
#   With restartPolicy OnFailure the kubelet restarts containers in place: the API allows
#   no podFailurePolicy, retries are counted inaccurately and logs of failures are lost.
# custom:
#   id: G-RESTART-NEVER
#   kep: KEP-3329 Relationship with Pod.spec.restartPolicy
#   field: spec.template.spec.restartPolicy
breaches["G-RESTART-NEVER"] contains _in_spec("template.spec.restartPolicy") if {
	_restarts_in_place
}

# METADATA
# title: Deadlines are the Job's, not the Pod's
# description: |
#   A Pod that exceeds its own activeDeadlineSeconds fails without a condition and often
#   with exit code 0, so that no rule of a podFailurePolicy can match it and it is retried.
# custom:
#   id: G-POD-DEADLINE
#   kep: KEP-3329 Active deadline timeout exceeded
#   field: spec.template.spec.activeDeadlineSeconds
breaches["G-POD-DEADLINE"] contains _in_spec("template.spec.activeDeadlineSeconds") if {
	is_number(_job.spec.template.spec.activeDeadlineSeconds)
	count(_rules) > 0
}

# METADATA
# title: The controller in managedBy exists
# description: |
#   Any name is accepted and no controller looks at a Job that is managed by another, so
#   that a Job with a misspelt name stands still for ever without an event.
# custom:
#   id: G-MANAGED-BY
#   kep: KEP-4368
#   field: spec.managedBy
#   parameters:
#     allowed: names of the controllers that the clusters run
breaches["G-MANAGED-BY"] contains _spec_field("managedBy") if {
	is_string(_job.spec.managedBy)
	not _job.spec.managedBy in config["G-MANAGED-BY"].allowed
}
