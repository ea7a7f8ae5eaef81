package podverdict.guardrails_test

broken_exit_codes := {
	"G-KILL-CODES": {
		"patch": policy([on_exit_codes("FailJob", "In", [1, 137])]),
		"field": "spec.podFailurePolicy.rules[0].onExitCodes.values",
	},
	"G-CATCH-ALL-LAST": {
		"patch": policy([on_disruption("Ignore"), unnamed("Count", "NotIn", [0]), on_exit_codes("FailIndex", "In", [42])]),
		"field": "spec.podFailurePolicy.rules[1]",
	},
	"G-CONTAINER-NAMED": {
		"patch": policy([on_disruption("Ignore"), unnamed("FailIndex", "In", [42])]),
		"field": "spec.podFailurePolicy.rules[1].onExitCodes.containerName",
	},
}

unnamed(action, operator, values) := json.remove(
	on_exit_codes(action, operator, values),
	["onExitCodes/containerName"],
)

test_kill_codes[note] if {
	values := "spec.podFailurePolicy.rules[0].onExitCodes.values"
	some note, case in {
		"NotIn takes them": {
			"rules": [on_exit_codes("FailJob", "NotIn", [40, 41, 42])],
			"fields": {values},
		},
		"NotIn leaves them": {
			"rules": [on_exit_codes("FailJob", "NotIn", [137, 143])],
			"fields": set(),
		},
		"FailIndex is fatal too": {
			"rules": [on_exit_codes("FailIndex", "In", [143])],
			"fields": {values},
		},
		"Count is not": {
			"rules": [on_exit_codes("Count", "In", [137, 143])],
			"fields": set(),
		},
		"memory limits, where disruptions have a rule": {
			"rules": [on_exit_codes("FailJob", "In", [137]), on_disruption("Count")],
			"fields": set(),
		},
		"not even there": {
			"rules": [on_exit_codes("FailJob", "In", [137]), on_disruption("Count")],
			"settings": {"unlessDisruptionHandled": false},
			"fields": {values},
		},
		"other codes by configuration": {
			"rules": [on_exit_codes("FailJob", "In", [137])],
			"settings": {"codes": [143]},
			"fields": set(),
		},
	}
	fields("G-KILL-CODES", policy(case.rules), object.get(case, "settings", {})) == case.fields
}

test_catch_all_last[note] if {
	last := on_exit_codes("FailJob", "In", [42])
	some note, case in {
		"last": {"rules": [last, unnamed("Count", "NotIn", [0])], "fields": set()},
		"another code is left": {"rules": [unnamed("Count", "NotIn", [0, 1]), last], "fields": set()},
		"another container is left": {"rules": [on_exit_codes("Count", "NotIn", [0]), last], "fields": set()},
		"In takes what it lists": {"rules": [unnamed("Count", "In", []), last], "fields": set()},
		"NotIn nothing": {
			"rules": [unnamed("Count", "NotIn", []), last],
			"fields": {"spec.podFailurePolicy.rules[0]"},
		},
		"two": {
			"rules": [unnamed("Count", "NotIn", [0]), unnamed("Count", "NotIn", [0])],
			"fields": {"spec.podFailurePolicy.rules[0]"},
		},
	}
	fields("G-CATCH-ALL-LAST", policy(case.rules), {}) == case.fields
}

test_container_named[note] if {
	some note, case in {
		"one container": {"containers": [{"name": "main"}], "fields": set()},
		"two containers": {
			"containers": [{"name": "main"}, {"name": "b"}],
			"fields": {"spec.podFailurePolicy.rules[0].onExitCodes.containerName"},
		},
	}
	patch := array.concat(policy([unnamed("Count", "In", [1])]), put("template/spec/containers", case.containers))
	fields("G-CONTAINER-NAMED", patch, {}) == case.fields
}
