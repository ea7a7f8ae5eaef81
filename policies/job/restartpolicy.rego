package podverdict.job

import data.podverdict.fields

# METADATA
# title: A failure policy needs pods that are not restarted
# custom:
#   id: F19
#   kep: KEP-3329
#   field: spec.template.spec.restartPolicy
#   severity: error
findings contains fields.invalid(
	"F19", _at_restart_policy, "OnFailure",
	`only "Never" is supported when podFailurePolicy is specified`,
) if {
	fields.given(spec, "podFailurePolicy")
	_restart_policy == "OnFailure"
}

# METADATA
# title: A restart policy is chosen
# description: Pods that always restart, which is the default, do not complete.
# custom:
#   id: F20
#   kep: batch/v1
#   field: spec.template.spec.restartPolicy
#   severity: error
findings contains fields.required("F20", _at_restart_policy, `valid values: "OnFailure", "Never"`) if {
	_restart_policy in {"", "Always"}
}

# METADATA
# title: The restart policy is known
# custom:
#   id: F21
#   kep: batch/v1
#   field: spec.template.spec.restartPolicy
#   severity: error
findings contains fields.unsupported("F21", _at_restart_policy, _restart_policy, ["OnFailure", "Never"]) if {
	not _restart_policy in {"", "Always", "OnFailure", "Never"}
}

_restart_policy := fields.text(pod_spec, "restartPolicy")

_at_restart_policy := at("template.spec.restartPolicy")
