package podverdict.job_test

test_F1_fires_above_20_rules if {
	said(
		"F1",
		with_rules([{"action": "Ignore", "onPodConditions": [{"type": "X"}]} | some _ in numbers.range(1, 21)]),
	) == {
		`spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items`,
	}
}

test_F1_silent_at_20_rules if {
	every object_ in [
		with_rules([{"action": "Ignore", "onPodConditions": [{"type": "X"}]} | some _ in numbers.range(1, 20)]),
		with_rules([]),
	] {
		said("F1", object_) == set()
	}
}

test_F2_fires_without_action if {
	said("F2", with_rules([{"action": "", "onExitCodes": {"operator": "In", "values": [1]}}, {"onExitCodes": {"operator": "In", "values": [1]}}])) == {
		`spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
		`spec.podFailurePolicy.rules[1].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
	}
}

test_F2_silent_with_action if said("F2", with_rules([{"action": "Other", "onExitCodes": {"operator": "In", "values": [1]}}])) == set()

test_F3_fires_without_limit_per_index if {
	said("F3", with_rules([{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}])) == {
		`spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
	}
}

test_F3_silent_with_limit_per_index if {
	every object_ in [
		changed(with_rules([{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}]), {"backoffLimitPerIndex": 0}),
		with_rules([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]),
	] {
		said("F3", object_) == set()
	}
}

test_F4_fires_on_unknown_action if {
	said("F4", with_rules([{"action": "Fail<Job", "onExitCodes": {"operator": "In", "values": [1]}}])) == {
		`spec.podFailurePolicy.rules[0].action: Unsupported value: "Fail\u003cJob": supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
	}
}

test_F4_silent_on_known_actions if {
	said("F4", with_rules([{"action": action} | some action in ["Count", "FailIndex", "FailJob", "Ignore", ""]])) == set()
}

test_F5_fires_without_operator if {
	said("F5", with_exit_codes({"values": [1]})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`,
	}
}

test_F5_silent_with_operator if {
	every object_ in [
		with_exit_codes({"operator": "In", "values": [1, 2]}),
		with_exit_codes({"operator": "Other", "values": [1]}),
	] {
		said("F5", object_) == set()
	}
}

test_F6_fires_on_unknown_operator if {
	said("F6", with_exit_codes({"operator": "in", "values": [1]})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "in": supported values: "In", "NotIn"`,
	}
}

test_F6_silent_on_known_operators if {
	every object_ in [
		with_exit_codes({"operator": "In", "values": [1, 2]}),
		with_exit_codes({"operator": "NotIn", "values": [1]}),
		with_exit_codes({"values": [1]}),
	] {
		said("F6", object_) == set()
	}
}

test_F7_fires_on_ephemeral_container if {
	said("F7", with_exit_codes({"operator": "In", "values": [1, 2], "containerName": "debug"})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "debug": must be one of the container or initContainer names in the pod template`,
	}
}

test_F7_fires_on_empty_name if {
	said("F7", with_exit_codes({"operator": "In", "values": [1, 2], "containerName": ""})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "": must be one of the container or initContainer names in the pod template`,
	}
}

test_F7_silent_on_containers if {
	every object_ in [
		with_exit_codes({"operator": "In", "values": [1, 2], "containerName": "main"}),
		with_exit_codes({"operator": "In", "values": [1, 2], "containerName": "proxy"}),
		with_exit_codes({"operator": "In", "values": [1, 2], "containerName": null}),
		with_exit_codes({"operator": "In", "values": [1, 2]}),
	] {
		said("F7", object_) == set()
	}
}

test_F8_fires_on_no_values if {
	said("F8", with_exit_codes({"operator": "In", "values": []})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []: at least one value is required`,
	}
}

test_F8_fires_without_values if {
	said("F8", with_exit_codes({"operator": "In"})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: null: at least one value is required`,
	}
}

test_F8_silent_on_one_value if said("F8", with_exit_codes({"operator": "In", "values": [1]})) == set()

test_F9_fires_above_255_values if {
	said("F9", with_exit_codes({"operator": "In", "values": numbers.range(1, 256)})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have at most 255 items`,
	}
}

test_F9_silent_at_255_values if said("F9", with_exit_codes({"operator": "In", "values": numbers.range(1, 255)})) == set()

test_F10_fires_on_zero if {
	said("F10", with_exit_codes({"operator": "In", "values": [-1, 0, 1]})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
	}
}

test_F10_silent_with_NotIn if {
	every object_ in [
		with_exit_codes({"operator": "NotIn", "values": [0]}),
		with_exit_codes({"operator": "Other", "values": [0]}),
		with_exit_codes({"operator": "In", "values": [1, 2]}),
	] {
		said("F10", object_) == set()
	}
}

test_F11_fires_on_every_repetition if {
	said("F11", with_exit_codes({"operator": "In", "values": [1, 1, 2, 1]})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 1`,
		`spec.podFailurePolicy.rules[0].onExitCodes.values[3]: Duplicate value: 1`,
	}
}

test_F11_silent_without_repetition if said("F11", with_exit_codes({"operator": "In", "values": [1, 2]})) == set()

test_F12_fires_once if {
	said("F12", with_exit_codes({"operator": "In", "values": [3, 2, 1]})) == {
		`spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,2,1]: must be ordered`,
	}
}

test_F12_silent_on_equal_neighbours if said("F12", with_exit_codes({"operator": "In", "values": [-5, 1, 1, 257]})) == set()

test_F13_fires_above_20_patterns if {
	said("F13", with_conditions([{"type": sprintf("X%d", [i])} | some i in numbers.range(1, 21)])) == {
		`spec.podFailurePolicy.rules[0].onPodConditions: Too many: 21: must have at most 20 items`,
	}
}

test_F13_silent_at_20_patterns if said("F13", with_conditions([{"type": sprintf("X%d", [i])} | some i in numbers.range(1, 20)])) == set()

test_F14_fires_twice_on_no_name if {
	said("F14", with_conditions([{}])) == {
		`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part must be non-empty`,
		concat("", [`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part `, alphanumeric]),
	}
}

test_F14_fires_on_long_names if {
	said("F14", with_conditions([{"type": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}])) == {
		`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": name part must be no more than 63 bytes`,
	}
}

test_F14_fires_on_two_slashes if {
	said("F14", with_conditions([{"type": "a/b/c"}])) == {
		concat("", [`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "a/b/c": a valid label key `, alphanumeric, ` with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]),
	}
}

test_F14_fires_on_empty_prefix if {
	said("F14", with_conditions([{"type": "/a"}])) == {
		`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "/a": prefix part must be non-empty`,
	}
}

test_F14_fires_on_prefix_and_name if {
	said("F14", with_conditions([{"type": "A/-"}])) == {
		concat("", [`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "A/-": prefix part `, lowercase]),
		concat("", [`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "A/-": name part `, alphanumeric]),
	}
}

test_F14_silent_on_qualified_names if said("F14", with_conditions([{"type": "DisruptionTarget"}, {"type": "example.com/a_b.c"}])) == set()

test_F15_fires_without_defaults if {
	undefaulted := with_conditions([{"type": "X"}]).spec
	findings := data.podverdict.job.findings with data.podverdict.job.spec as undefaulted with input as indexed
	{finding.msg | some finding in findings; finding.id == "F15"} == {concat(": ", [
		"spec.podFailurePolicy.rules[0].onPodConditions[0].status",
		"Required value",
		`valid values: ["False" "True" "Unknown"]`,
	])}
}

test_F15_silent_with_default if said("F15", with_conditions([{"type": "X"}, {"type": "X", "status": ""}])) == set()

test_F16_fires_on_unknown_status if {
	said("F16", with_conditions([{"type": "X", "status": "true"}])) == {
		`spec.podFailurePolicy.rules[0].onPodConditions[0].status: Unsupported value: "true": supported values: "False", "True", "Unknown"`,
	}
}

test_F16_silent_on_known_statuses if {
	said("F16", with_conditions([{"status": status} | some status in ["True", "False", "Unknown", ""]])) == set()
}

test_F17_fires_on_both if {
	said(
		"F17",
		with_rules([{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1, 2]}, "onPodConditions": [{"type": "X"}]}]),
	) == {
		`spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
	}
}

test_F17_silent_on_empty_conditions if {
	every object_ in [
		with_rules([{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1, 2]}, "onPodConditions": []}]),
		with_rules([{"action": "Ignore"}]),
	] {
		said("F17", object_) == set()
	}
}

test_F18_fires_on_neither if {
	said("F18", with_rules([{"action": "Ignore"}, {"action": "Ignore", "onExitCodes": null, "onPodConditions": []}])) == {
		`spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
		`spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
	}
}

test_F18_silent_on_one if {
	every object_ in [
		with_exit_codes({"operator": "In", "values": [1, 2]}),
		with_conditions([{"type": "X"}]),
	] {
		said("F18", object_) == set()
	}
}
