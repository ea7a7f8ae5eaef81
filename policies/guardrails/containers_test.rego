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
}

test_containers[note] if {
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
	}
	fields(case.id, case.patch, {}) == case.fields
}
