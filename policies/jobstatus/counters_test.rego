package podverdict.jobstatus_test

test_ST1_fires_below_zero if {
	said("ST1", write({}, {"active": -1, "succeeded": -2, "failed": -3, "ready": -4, "terminating": -5})) == {
		`status.active: Invalid value: -1: must be greater than or equal to 0`,
		`status.succeeded: Invalid value: -2: must be greater than or equal to 0`,
		`status.failed: Invalid value: -3: must be greater than or equal to 0`,
		`status.ready: Invalid value: -4: must be greater than or equal to 0`,
		`status.terminating: Invalid value: -5: must be greater than or equal to 0`,
	}
}

test_ST1_silent_at_zero if {
	every a_write in [
		write({}, {"active": 0, "succeeded": 0, "failed": 0, "ready": 0, "terminating": null}),
	] {
		said("ST1", a_write) == set()
	}
}

test_ST2_fires_on_empty_uid if {
	said("ST2", write({}, {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": [""]}})) == {
		`status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty`,
		`status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty`,
	}
}

test_ST2_silent_on_uids if {
	every a_write in [
		write({}, {"uncountedTerminatedPods": {"succeeded": ["a"]}}),
		write({}, {}),
	] {
		said("ST2", a_write) == set()
	}
}

test_ST3_fires_on_repetition if {
	said("ST3", write({}, {"uncountedTerminatedPods": {"succeeded": ["a", "a"], "failed": ["b", "a"]}})) == {
		`status.uncountedTerminatedPods.succeeded[1]: Duplicate value: "a"`,
		`status.uncountedTerminatedPods.failed[1]: Duplicate value: "a"`,
	}
}

test_ST3_silent_on_different_uids if {
	every a_write in [
		write({}, {"uncountedTerminatedPods": {"succeeded": ["a", "", ""], "failed": ["b"]}}),
	] {
		said("ST3", a_write) == set()
	}
}

test_ST10_fires_on_decrease if {
	said("ST10", write({"failed": 2}, {"failed": 1})) == {
		`status.failed: Invalid value: 1: cannot decrease the failed counter`,
	}
}

test_ST10_fires_on_removal if {
	said("ST10", write({"failed": 2}, {})) == {`status.failed: Invalid value: 0: cannot decrease the failed counter`}
}

test_ST10_silent_on_increase if {
	every a_write in [
		write({"failed": 2}, {"failed": 3}),
		write({}, {}),
	] {
		said("ST10", a_write) == set()
	}
}

test_ST11_fires_on_decrease if {
	said("ST11", write({"succeeded": 2}, {"succeeded": 1})) == {
		`status.succeeded: Invalid value: 1: cannot decrease the succeeded counter`,
	}
}

test_ST11_fires_without_indexes if {
	said("ST11", write_with({"completionMode": "NonIndexed", "completions": 2}, {"succeeded": 2}, {"succeeded": 1})) == {
		`status.succeeded: Invalid value: 1: cannot decrease the succeeded counter`,
	}
}

test_ST11_silent_on_elastic_jobs if {
	every a_write in [
		write_with({"completions": 2}, {"succeeded": 2}, {"succeeded": 1}),
		write({"succeeded": 2}, {"succeeded": 2}),
	] {
		said("ST11", a_write) == set()
	}
}

test_ST20_fires_on_active_pods if {
	said("ST20", write({"startTime": started, "active": 1}, object.union(failed, {"active": 1}))) == {
		`status.active: Invalid value: 1: active>0 is invalid for finished job`,
	}
}

test_ST20_fires_on_later_change if {
	said("ST20", write(failed, object.union(failed, {"active": 1}))) == {
		`status.active: Invalid value: 1: active>0 is invalid for finished job`,
	}
}

test_ST20_silent_without_change_or_end if {
	every a_write in [
		write(object.union(failed, {"active": 1}), object.union(failed, {"active": 1, "failed": 1})),
		write({}, {"active": 1}),
		write({}, failed),
	] {
		said("ST20", a_write) == set()
	}
}

test_ST22_fires_on_uncounted_pods if {
	said("ST22", write({}, object.union(failed, {"uncountedTerminatedPods": {"failed": ["a"]}}))) == {
		`status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job`,
	}
}

test_ST22_fires_on_later_change if {
	said(
		"ST22",
		write(failed, object.union(failed, {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": []}})),
	) == {
		`status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a"],"Failed":[]}: must be empty for finished job`,
	}
}

test_ST22_silent_when_empty if {
	every a_write in [
		write({}, object.union(failed, {"uncountedTerminatedPods": {"failed": []}})),
		write({}, {"uncountedTerminatedPods": {"failed": ["a"]}}),
		write(object.union(failed, {"uncountedTerminatedPods": {"failed": ["a"]}}), object.union(failed, {"uncountedTerminatedPods": {"failed": ["a"]}})),
	] {
		said("ST22", a_write) == set()
	}
}

test_ST23_fires_on_terminating_pods if {
	said("ST23", write({}, object.union(failed, {"terminating": 1}))) == {
		`status.terminating: Invalid value: 1: terminating>0 is invalid for finished job`,
	}
}

test_ST23_silent_without_change_or_end if {
	every a_write in [
		write(object.union(failed, {"terminating": 1}), object.union(failed, {"terminating": 1})),
		write({}, {"terminating": 1}),
		write({}, failed),
	] {
		said("ST23", a_write) == set()
	}
}

test_ST24_fires_above_active if {
	said("ST24", write({}, {"active": 1, "ready": 2})) == {
		`status.ready: Invalid value: 2: cannot set more ready pods than active`,
	}
}

test_ST24_fires_when_active_decreases if {
	said("ST24", write({"active": 2, "ready": 2}, {"ready": 2})) == {
		`status.ready: Invalid value: 2: cannot set more ready pods than active`,
	}
}

test_ST24_silent_without_change if {
	every a_write in [
		write({"active": 1, "ready": 2}, {"active": 1, "ready": 2}),
		write({}, {"active": 2, "ready": 2}),
	] {
		said("ST24", a_write) == set()
	}
}
