package podverdict.jobstatus_test

test_ST25_fires_on_disorder if {
	said("ST25", write({}, {"completedIndexes": "2,1"})) == {
		`status.completedIndexes: Invalid value: "2,1": error parsing completedIndexes: non-increasing order, previous: 2, current: 1`,
	}
}

test_ST25_silent_on_order_or_without_change if {
	every a_write in [
		write({}, {"completedIndexes": "0,1,2"}),
		write({"completedIndexes": "x"}, {"completedIndexes": "x"}),
		write_with({"completions": null}, {}, {"completedIndexes": "x"}),
	] {
		said("ST25", a_write) == set()
	}
}

test_ST26_fires_on_index_too_large if {
	said("ST26", write({}, {"failedIndexes": "10"})) == {
		`status.failedIndexes: Invalid value: "10": error parsing failedIndexes: too large index: "10"`,
	}
}

test_ST26_silent_on_order_or_without_limit if {
	every a_write in [
		write({}, {"failedIndexes": "9"}),
		write_with({"backoffLimitPerIndex": null}, {}, {"failedIndexes": "x"}),
		write({"failedIndexes": "x"}, {"failedIndexes": "x"}),
	] {
		said("ST26", a_write) == set()
	}
}

test_ST27_fires_without_indexes if {
	said("ST27", write_with({"completionMode": "NonIndexed"}, {}, {"completedIndexes": "0"})) == {
		`status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode`,
	}
}

test_ST27_silent_with_indexes_or_without_change if {
	every a_write in [
		write({}, {"completedIndexes": "0"}),
		write_with({"completionMode": null}, {"completedIndexes": "0"}, {"completedIndexes": "0"}),
	] {
		said("ST27", a_write) == set()
	}
}

test_ST28_fires_on_empty if {
	said("ST28", write_with({"backoffLimitPerIndex": null}, {}, {"failedIndexes": ""})) == {
		`status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
	}
}

test_ST28_silent_with_limit_or_null if {
	every a_write in [
		write({}, {"failedIndexes": ""}),
		write_with({"backoffLimitPerIndex": null}, {"failedIndexes": ""}, {"failedIndexes": null}),
	] {
		said("ST28", a_write) == set()
	}
}

test_ST29_fires_on_overlap if {
	said("ST29", write({}, {"completedIndexes": "0-4", "failedIndexes": "3,9"})) == {
		`status.failedIndexes: Invalid value: "3,9": failedIndexes and completedIndexes overlap at index: 3`,
	}
}

test_ST29_silent_without_overlap_or_change if {
	every a_write in [
		write({}, {"completedIndexes": "0-4", "failedIndexes": "5"}),
		write({"completedIndexes": "0-4", "failedIndexes": "3,9"}, {"completedIndexes": "0-4", "failedIndexes": "3,9"}),
	] {
		said("ST29", a_write) == set()
	}
}
