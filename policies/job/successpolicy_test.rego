package podverdict.job_test

test_S1_fires_without_indexes if {
	said("S1", changed(plain, {"successPolicy": {"rules": [{"succeededIndexes": "0"}, {"succeededCount": 1}]}})) == {
		`spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":"0","SucceededCount":null},{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode`,
	}
}

test_S1_fires_without_rules if {
	said("S1", changed(plain, {"successPolicy": {}})) == {
		`spec.successPolicy: Invalid value: {"Rules":null}: requires indexed completion mode`,
	}
}

test_S1_silent_with_indexes if {
	every object_ in [
		with_success([]),
		plain,
	] {
		said("S1", object_) == set()
	}
}

test_S2_fires_without_rules if {
	said("S2", with_success([])) == {
		`spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified`,
	}
}

test_S2_silent_with_rules if {
	every object_ in [
		with_success([{}]),
		changed(plain, {"successPolicy": {}}),
	] {
		said("S2", object_) == set()
	}
}

test_S3_fires_above_20_rules if {
	said("S3", with_success([{"succeededCount": 1} | some _ in numbers.range(1, 21)])) == {
		`spec.successPolicy.rules: Too many: 21: must have at most 20 items`,
	}
}

test_S3_silent_at_20_rules if said("S3", with_success([{"succeededCount": 1} | some _ in numbers.range(1, 20)])) == set()

test_S4_fires_on_empty_rule if {
	said("S4", with_success([{}])) == {
		`spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified`,
	}
}

test_S4_silent_on_one_or_both if said("S4", with_success([{"succeededIndexes": ""}, {"succeededCount": 0}, {"succeededIndexes": "0-1", "succeededCount": 1}])) == set()

test_S5_fires_above_65536_bytes if {
	said("S5", with_success([{"succeededIndexes": sprintf("%s0", [long_indexes])}])) == {concat(": ", [
		"spec.successPolicy.rules[0].succeededIndexes",
		"Too long",
		"may not be more than 65536 bytes",
	])}
}

test_S5_silent_at_65536_bytes if said("S5", with_success([{"succeededIndexes": long_indexes}])) == set()

long_indexes := sprintf("%s1234567", [concat("", [n | some _ in numbers.range(1, 7281); n := "12345678,"])])

test_S6_fires_on_text if {
	said("S6", with_success([{"succeededIndexes": "0,x"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,x": error parsing succeededIndexes: cannot convert string to integer for index: "x"`,
	}
}

test_S6_fires_on_index_too_large if {
	said("S6", with_success([{"succeededIndexes": "0-10"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-10": error parsing succeededIndexes: too large index: "10"`,
	}
}

test_S6_fires_on_first_too_large if {
	said("S6", with_success([{"succeededIndexes": "10-11"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "10-11": error parsing succeededIndexes: too large index: "10"`,
	}
}

test_S6_fires_on_disorder if {
	said("S6", with_success([{"succeededIndexes": "3,2"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "3,2": error parsing succeededIndexes: non-increasing order, previous: 3, current: 2`,
	}
}

test_S6_fires_on_single_range if {
	said("S6", with_success([{"succeededIndexes": "1-1"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-1": error parsing succeededIndexes: non-increasing order, previous: 1, current: 1`,
	}
}

test_S6_fires_on_three_parts if {
	said("S6", with_success([{"succeededIndexes": "1-2-3"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-2-3": error parsing succeededIndexes: the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
	}
}

test_S6_fires_on_second_text if {
	said("S6", with_success([{"succeededIndexes": "1-x"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-x": error parsing succeededIndexes: cannot convert string to integer for index: "x"`,
	}
}

test_S6_fires_on_overflow if {
	said("S6", with_success([{"succeededIndexes": "9223372036854775808"}])) == {
		`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "9223372036854775808": error parsing succeededIndexes: cannot convert string to integer for index: "9223372036854775808"`,
	}
}

test_S6_silent_on_order if {
	every object_ in [
		with_success([{"succeededIndexes": "0,2-4,9"}, {"succeededIndexes": ""}, {"succeededIndexes": "+1,02-03"}]),
		changed(indexed, {"completions": null, "successPolicy": {"rules": [{"succeededIndexes": "x"}]}}),
	] {
		said("S6", object_) == set()
	}
}

test_S7_fires_below_zero if {
	said("S7", with_success([{"succeededCount": -1}])) == {
		`spec.successPolicy.rules[0].succeededCount: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_S7_silent_at_zero if said("S7", with_success([{"succeededCount": 0}, {"succeededCount": null}])) == set()

test_S8_fires_above_completions if {
	said("S8", with_success([{"succeededCount": 11}])) == {
		`spec.successPolicy.rules[0].succeededCount: Invalid value: 11: must be less than or equal to 10 (the number of specified completions)`,
	}
}

test_S8_silent_at_completions if said("S8", with_success([{"succeededCount": 10}])) == set()

test_S9_fires_above_listed if {
	said("S9", with_success([{"succeededCount": 5, "succeededIndexes": "0,+2-04"}])) == {
		`spec.successPolicy.rules[0].succeededCount: Invalid value: 5: must be less than or equal to 4 (the number of indexes in the specified succeededIndexes field)`,
	}
}

test_S9_fires_on_faulty_indexes if {
	said("S9", with_success([{"succeededCount": 1, "succeededIndexes": "x"}])) == {
		`spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)`,
	}
}

test_S9_silent_at_listed if {
	every object_ in [
		with_success([{"succeededCount": 4, "succeededIndexes": "0,2-4"}, {"succeededCount": 0, "succeededIndexes": ""}]),
		with_success([{"succeededCount": 5}]),
	] {
		said("S9", object_) == set()
	}
}
