package podverdict.job_test

test_B1_fires_below_zero if {
	said("B1", changed(indexed, {"backoffLimitPerIndex": -1})) == {
		`spec.backoffLimitPerIndex: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_B1_silent_at_zero if said("B1", changed(indexed, {"backoffLimitPerIndex": 0})) == set()

test_B2_fires_below_zero if {
	said("B2", changed(indexed, {"maxFailedIndexes": -1})) == {
		`spec.maxFailedIndexes: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_B2_silent_at_zero if said("B2", changed(indexed, {"maxFailedIndexes": 0})) == set()

test_B3_fires_without_limit_per_index if {
	said("B3", changed(indexed, {"maxFailedIndexes": 1})) == {
		`spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified`,
	}
}

test_B3_silent_with_limit_per_index if {
	every object_ in [
		changed(indexed, {"maxFailedIndexes": 1, "backoffLimitPerIndex": 0}),
		indexed,
	] {
		said("B3", object_) == set()
	}
}

test_B4_fires_above_completions if {
	said("B4", changed(indexed, {"maxFailedIndexes": 11, "backoffLimitPerIndex": 1})) == {
		`spec.maxFailedIndexes: Invalid value: 11: must be less than or equal to completions`,
	}
}

test_B4_silent_at_completions if {
	every object_ in [
		changed(indexed, {"maxFailedIndexes": 10, "backoffLimitPerIndex": 1}),
		changed(plain, {"maxFailedIndexes": 11}),
		changed(indexed, {"maxFailedIndexes": 11, "completions": null}),
	] {
		said("B4", object_) == set()
	}
}

test_B5_fires_above_limit if {
	said("B5", changed(indexed, {"maxFailedIndexes": 100001, "completions": 200000})) == {
		`spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000`,
	}
}

test_B5_silent_at_limit if {
	every object_ in [
		changed(indexed, {"maxFailedIndexes": 100000, "completions": 200000}),
		changed(plain, {"maxFailedIndexes": 100001}),
	] {
		said("B5", object_) == set()
	}
}

test_B6_fires_on_very_many_indexes if {
	said("B6", changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100001})) == {
		`spec.maxFailedIndexes: Required value: must be specified when completions is above 100000`,
	}
}

test_B6_silent_at_limit_or_when_set if {
	every object_ in [
		changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100000}),
		changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100001, "maxFailedIndexes": 1}),
		changed(indexed, {"completions": 100001}),
	] {
		said("B6", object_) == set()
	}
}

test_B7_fires_above_limit if {
	said("B7", changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100001, "maxFailedIndexes": 10001})) == {
		`spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index`,
	}
}

test_B7_silent_at_limit if {
	every object_ in [
		changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100001, "maxFailedIndexes": 10000}),
		changed(indexed, {"backoffLimitPerIndex": 1, "completions": 100000, "maxFailedIndexes": 10001}),
	] {
		said("B7", object_) == set()
	}
}

test_B8_fires_without_indexes if {
	said("B8", changed(plain, {"backoffLimitPerIndex": 1})) == {
		`spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode`,
	}
}

test_B8_silent_with_indexes_or_unknown_mode if {
	every object_ in [
		changed(indexed, {"backoffLimitPerIndex": 1}),
		changed(indexed, {"backoffLimitPerIndex": 1, "completionMode": "Other"}),
		plain,
	] {
		said("B8", object_) == set()
	}
}

test_B9_fires_without_indexes if {
	said("B9", changed(plain, {"maxFailedIndexes": 1})) == {
		`spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode`,
	}
}

test_B9_silent_with_indexes_or_unknown_mode if {
	every object_ in [
		changed(indexed, {"maxFailedIndexes": 1}),
		changed(indexed, {"maxFailedIndexes": 1, "completionMode": "Other"}),
		plain,
	] {
		said("B9", object_) == set()
	}
}
