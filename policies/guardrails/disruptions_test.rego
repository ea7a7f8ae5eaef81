package podverdict.guardrails_test

broken_disruptions := {
	"G-DISRUPTION-HANDLED": {
		"patch": policy([on_exit_codes("FailIndex", "In", [42])]),
		"field": "spec.podFailurePolicy.rules",
	},
	"G-DISRUPTION-ACTION": {
		"patch": policy([on_disruption("FailJob")]),
		"field": "spec.podFailurePolicy.rules[0].action",
	},
	"G-DISRUPTION-FIRST": {
		"patch": policy([on_exit_codes("FailJob", "NotIn", [42]), on_disruption("Ignore")]),
		"field": "spec.podFailurePolicy.rules[1].onPodConditions",
	},
}

config_issue := {"type": "ConfigIssue", "status": "True"}

on_conditions(action, conditions) := {"action": action, "onPodConditions": conditions}

test_disruption_handled[note] if {
	some note, case in {
		"another condition does not do": {
			"rules": [on_conditions("Ignore", [config_issue])],
			"handled": false,
		},
		"the absence of a disruption does not do": {
			"rules": [on_conditions("Ignore", [{"type": "DisruptionTarget", "status": "False"}])],
			"handled": false,
		},
		"a rule with exit codes looks at no conditions": {
			"rules": [object.union(on_exit_codes("FailJob", "In", [1]), on_disruption("Ignore"))],
			"handled": false,
		},
		"one pattern of several does": {
			"rules": [on_conditions("Count", [config_issue, {"type": "DisruptionTarget"}])],
			"handled": true,
		},
		"an empty status is True": {
			"rules": [on_conditions("Count", [{"type": "DisruptionTarget", "status": ""}])],
			"handled": true,
		},
		"null is no exit-code rule": {
			"rules": [object.union(on_disruption("Count"), {"onExitCodes": null})],
			"handled": true,
		},
		"no rules at all is another guardrail's": {
			"rules": [],
			"handled": true,
		},
	}
	fields("G-DISRUPTION-HANDLED", policy(case.rules), {}) == set() == case.handled
}

test_disruption_action_is_the_platforms_choice[note] if {
	some note, case in {
		"ignored": {"action": "Ignore", "actions": ["Ignore", "Count"], "fields": set()},
		"counted": {"action": "Count", "actions": ["Ignore", "Count"], "fields": set()},
		"ignored, where it must be counted": {
			"action": "Ignore",
			"actions": ["Count"],
			"fields": {"spec.podFailurePolicy.rules[0].action"},
		},
		"the index fails": {
			"action": "FailIndex",
			"actions": ["Ignore", "Count"],
			"fields": {"spec.podFailurePolicy.rules[0].action"},
		},
	}
	fields("G-DISRUPTION-ACTION", policy([on_disruption(case.action)]), {"actions": case.actions}) == case.fields
}

test_disruption_first[note] if {
	some note, case in {
		"In with SIGTERM": {
			"rules": [on_exit_codes("FailJob", "In", [1, 143]), on_disruption("Ignore")],
			"fields": {"spec.podFailurePolicy.rules[1].onPodConditions"},
		},
		"In without": {
			"rules": [on_exit_codes("FailJob", "In", [1, 2]), on_disruption("Ignore")],
			"fields": set(),
		},
		"NotIn with one of both": {
			"rules": [on_exit_codes("FailJob", "NotIn", [137]), on_disruption("Ignore")],
			"fields": {"spec.podFailurePolicy.rules[1].onPodConditions"},
		},
		"NotIn with both": {
			"rules": [on_exit_codes("FailJob", "NotIn", [137, 143]), on_disruption("Ignore")],
			"fields": set(),
		},
		"the same action": {
			"rules": [on_exit_codes("Ignore", "In", [143]), on_disruption("Ignore")],
			"fields": set(),
		},
		"first": {
			"rules": [on_disruption("Ignore"), on_exit_codes("FailJob", "NotIn", [0])],
			"fields": set(),
		},
		"between two": {
			"rules": [
				on_exit_codes("FailJob", "In", [1]),
				on_disruption("Ignore"),
				on_exit_codes("FailJob", "In", [143]),
			],
			"fields": set(),
		},
		"exit codes among themselves": {
			"rules": [on_exit_codes("FailJob", "In", [143]), on_exit_codes("Count", "NotIn", [0])],
			"fields": set(),
		},
		"other codes by configuration": {
			"rules": [on_exit_codes("FailJob", "In", [255]), on_disruption("Ignore")],
			"settings": {"codes": [255]},
			"fields": {"spec.podFailurePolicy.rules[1].onPodConditions"},
		},
	}
	fields("G-DISRUPTION-FIRST", policy(case.rules), object.get(case, "settings", {})) == case.fields
}
