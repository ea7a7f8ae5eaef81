package podverdict.guardrails_test

broken_containers := {
	"G-SIDECAR-UNNAMED": {
		"patch": policy([on_disruption("Ignore"), unnamed("FailIndex", "In", [42])]),
		"field": "spec.podFailurePolicy.rules[1].onExitCodes.containerName",
	},
	"G-SIDECAR-TARGET": {
		"patch": policy([
			on_disruption("Ignore"),
			{"action": "Count", "onExitCodes": {"containerName": "log", "operator": "In", "values": [1]}},
		]),
		"field": "spec.podFailurePolicy.rules[1].onExitCodes.containerName",
	},
	"G-RESTART-RULES": {
		"patch": put("template/spec/containers/1/restartPolicyRules", [{"action": "Restart"}]),
		"field": "spec.template.spec.containers[1].restartPolicyRules",
	},
	"G-CONTAINER-RESTART": {
		"patch": put("template/spec/containers/0/restartPolicy", "OnFailure"),
		"field": "spec.template.spec.containers[0].restartPolicy",
	},
}

test_containers[note] if {
	without_policy := drop("podFailurePolicy")
	without_sidecar := put("template/spec/initContainers/1/restartPolicy", "Never")
	some note, case in {
		"no sidecar, no name": {
			"id": "G-SIDECAR-UNNAMED",
			"patch": array.concat(policy([unnamed("Count", "In", [1])]), without_sidecar),
			"fields": set(),
		},
		"a container that is restarted is no sidecar": {
			"id": "G-SIDECAR-UNNAMED",
			"patch": array.concat(
				policy([unnamed("Count", "In", [1])]),
				array.concat(without_sidecar, put("template/spec/containers/0/restartPolicy", "Always")),
			),
			"fields": set(),
		},
		"an ordinary init container may be named": {
			"id": "G-SIDECAR-TARGET",
			"patch": policy([{"action": "Count", "onExitCodes": {"containerName": "fetch", "operator": "In", "values": [1]}}]),
			"fields": set(),
		},
		"restart rules of an init container": {
			"id": "G-RESTART-RULES",
			"patch": put("template/spec/initContainers/0/restartPolicyRules", [{"action": "Restart"}]),
			"fields": {"spec.template.spec.initContainers[0].restartPolicyRules"},
		},
		"no restart rules": {
			"id": "G-RESTART-RULES",
			"patch": put("template/spec/containers/0/restartPolicyRules", []),
			"fields": set(),
		},
		"restart rules without a policy": {
			"id": "G-RESTART-RULES",
			"patch": array.concat(
				without_policy,
				put("template/spec/containers/0/restartPolicyRules", [{"action": "Restart"}]),
			),
			"fields": set(),
		},
		"an init container with OnFailure": {
			"id": "G-CONTAINER-RESTART",
			"patch": put("template/spec/initContainers/0/restartPolicy", "OnFailure"),
			"fields": {"spec.template.spec.initContainers[0].restartPolicy"},
		},
		"an object of containers": {
			"id": "G-CONTAINER-RESTART",
			"patch": put("template/spec/containers", {"main": {"restartPolicy": "OnFailure"}}),
			"fields": set(),
		},
		"an object of init containers": {
			"id": "G-CONTAINER-RESTART",
			"patch": put("template/spec/initContainers", {"main": {"restartPolicy": "OnFailure"}}),
			"fields": set(),
		},
		"a container with Always": {
			"id": "G-CONTAINER-RESTART",
			"patch": put("template/spec/containers/1/restartPolicy", "Always"),
			"fields": {"spec.template.spec.containers[1].restartPolicy"},
		},
		"Never": {
			"id": "G-CONTAINER-RESTART",
			"patch": put("template/spec/containers/1/restartPolicy", "Never"),
			"fields": set(),
		},
		"restarts without a policy": {
			"id": "G-CONTAINER-RESTART",
			"patch": array.concat(without_policy, put("template/spec/containers/0/restartPolicy", "OnFailure")),
			"fields": set(),
		},
	}
	fields(case.id, case.patch, {}) == case.fields
}
