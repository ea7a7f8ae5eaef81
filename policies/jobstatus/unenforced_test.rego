package podverdict.jobstatus_test

test_SN1_fires_on_other_number if {
	said("SN1", write({}, {"succeeded": 2, "completedIndexes": "0-2"})) == {
		`status.succeeded: Invalid value: 2: must be 3, the number of completedIndexes`,
	}
}

test_SN1_silent_on_agreement if {
	every a_write in [
		write({}, {"succeeded": 3, "completedIndexes": "0-2"}),
		write_with({"completionMode": "NonIndexed"}, {}, {"succeeded": 2}),
		write({}, {"succeeded": 2, "completedIndexes": "x"}),
	] {
		said("SN1", a_write) == set()
	}
}

test_SN2_fires_above_completions if {
	said("SN2", write({}, {"succeeded": 11})) == {
		`status.succeeded: Invalid value: 11: must be less than or equal to 10, the completions`,
	}
}

test_SN2_silent_at_completions_or_without_increase if {
	every a_write in [
		write({}, {"succeeded": 10}),
		write({"succeeded": 11}, {"succeeded": 11}),
	] {
		said("SN2", a_write) == set()
	}
}

test_SN3_fires_above_parallelism if {
	said("SN3", write({}, {"active": 3})) == {
		`status.active: Invalid value: 3: must be less than or equal to 2, the parallelism`,
	}
}

test_SN3_silent_at_parallelism_or_on_decrease if {
	every a_write in [
		write({}, {"active": 2}),
		write({"active": 4}, {"active": 3}),
	] {
		said("SN3", a_write) == set()
	}
}

test_SN4_fires_without_success if {
	said("SN4", write({}, complete)) == {`status.succeeded: Invalid value: 0: must be greater than 0 for a complete Job`}
}

test_SN4_silent_with_success_or_nothing_to_do if {
	every a_write in [
		write({}, object.union(complete, {"succeeded": 1})),
		write_with({"completions": 0}, {}, complete),
		write_with({"successPolicy": {}}, {}, complete),
		write(complete, complete),
	] {
		said("SN4", a_write) == set()
	}
}

test_SN5_fires_on_loss if {
	said("SN5", write({"completedIndexes": "0-4,12"}, {"completedIndexes": "0-2,4"})) == {
		`status.completedIndexes: Invalid value: "0-2,4": must keep index 3`,
	}
}

test_SN5_fires_on_removal if {
	said("SN5", write({"completedIndexes": "0-4,12"}, {})) == {
		`status.completedIndexes: Invalid value: null: must keep index 0`,
	}
}

test_SN5_silent_on_growth_or_scale_down if {
	every a_write in [
		write({"completedIndexes": "0-4"}, {"completedIndexes": "0-5"}),
		write({"completedIndexes": "0-4,12"}, {"completedIndexes": "0-4"}),
	] {
		said("SN5", a_write) == set()
	}
}

test_SN6_fires_on_removal if {
	said("SN6", write({"failedIndexes": "1"}, {"failedIndexes": null})) == {
		`status.failedIndexes: Invalid value: null: must keep index 1`,
	}
}

test_SN6_silent_on_growth if {
	every a_write in [
		write({"failedIndexes": "1"}, {"failedIndexes": "1,2"}),
		write({}, {"failedIndexes": ""}),
	] {
		said("SN6", a_write) == set()
	}
}

test_SN7_fires_at_once if {
	said("SN7", write({}, failed)) == {
		`status.conditions: Invalid value: FailureTarget=True must be set in an earlier write than Failed=True`,
	}
}

test_SN7_silent_later if {
	every a_write in [
		write(being(["FailureTarget"]), failed),
		write(failed, failed),
	] {
		said("SN7", a_write) == set()
	}
}

test_SN8_fires_at_once if {
	said("SN8", write({}, complete)) == {
		`status.conditions: Invalid value: SuccessCriteriaMet=True must be set in an earlier write than Complete=True`,
	}
}

test_SN8_silent_later if {
	every a_write in [
		write(being(["SuccessCriteriaMet"]), complete),
		write(complete, complete),
	] {
		said("SN8", a_write) == set()
	}
}

test_SN9_fires_on_edits if {
	said("SN9", write({"conditions": [{"type": "Failed", "status": "True", "reason": "A", "message": "a"}]}, {"conditions": [{"type": "Failed", "status": "True", "reason": "B", "message": "b"}]})) == {
		`status.conditions[0].reason: Invalid value: "B": must not change in a terminal condition`,
		`status.conditions[0].message: Invalid value: "b": must not change in a terminal condition`,
	}
}

test_SN9_silent_on_other_conditions if {
	every a_write in [
		write({"conditions": [{"type": "Suspended", "status": "True", "reason": "A"}]}, {"conditions": [{"type": "Suspended", "status": "True", "reason": "B"}]}),
		write(failed, failed),
	] {
		said("SN9", a_write) == set()
	}
}

test_SN10_fires_on_repetition if {
	said(
		"SN10",
		write({}, {"conditions": [{"type": "Failed", "status": "True"}, {"type": "Failed", "status": "False"}]}),
	) == {
		`status.conditions[1].type: Duplicate value: "Failed"`,
	}
}

test_SN10_silent_on_different_types if {
	every a_write in [
		write({}, failed),
	] {
		said("SN10", a_write) == set()
	}
}

test_SN11_fires_on_unknown if {
	said("SN11", write({}, {"conditions": [{"type": "Failure", "status": "true"}]})) == {
		`status.conditions[0].type: Unsupported value: "Failure": supported values: "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"`,
		`status.conditions[0].status: Unsupported value: "true": supported values: "False", "True", "Unknown"`,
	}
}

test_SN11_fires_on_unknown_of_no_domain if {
	said("SN11", write({}, {"conditions": [{"type": "/Ledger", "status": "example.com/True"}]})) == {
		`status.conditions[0].type: Unsupported value: "/Ledger": supported values: "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"`,
		`status.conditions[0].status: Unsupported value: "example.com/True": supported values: "False", "True", "Unknown"`,
	}
}

test_SN11_silent_on_known if {
	every a_write in [
		write({}, being(["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"])),
		write({}, being(["podverdict.io/Ledger", "example.com/Ready"])),
	] {
		said("SN11", a_write) == set()
	}
}

test_SN12_fires_on_other_form if {
	said("SN12", write({}, {"completedIndexes": "0-1,2,3", "failedIndexes": "5,6,7"})) == {
		`status.completedIndexes: Invalid value: "0-1,2,3": must be in canonical form, such as 0,1,3-5`,
		`status.failedIndexes: Invalid value: "5,6,7": must be in canonical form, such as 0,1,3-5`,
	}
}

test_SN12_silent_on_canonical_form if {
	every a_write in [
		write({}, {"completedIndexes": "0-3", "failedIndexes": "5,6"}),
		write({}, {"completedIndexes": "x"}),
	] {
		said("SN12", a_write) == set()
	}
}
