package podverdict.jobstatus_test

test_ST4_fires_on_both if {
	said("ST4", write({}, being(["SuccessCriteriaMet", "Failed"]))) == {
		`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions`,
	}
}

test_ST4_fires_without_change if {
	said("ST4", write(being(["SuccessCriteriaMet", "Failed"]), being(["SuccessCriteriaMet", "Failed"]))) == {
		`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions`,
	}
}

test_ST4_silent_on_one if {
	every a_write in [
		write({}, complete),
		write({}, failed),
	] {
		said("ST4", a_write) == set()
	}
}

test_ST5_fires_on_both if {
	said("ST5", write({}, being(["SuccessCriteriaMet", "FailureTarget"]))) == {
		`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions`,
	}
}

test_ST5_silent_on_one if {
	every a_write in [
		write({}, complete),
		write({}, failed),
	] {
		said("ST5", a_write) == set()
	}
}

test_ST6_fires_without_criteria if {
	said("ST6", write_with({"successPolicy": {}}, {}, being(["Complete"]))) == {
		`status.conditions: Invalid value: cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True`,
	}
}

test_ST6_silent_with_criteria_or_without_policy if {
	every a_write in [
		write_with({"successPolicy": {}}, {}, complete),
		write({}, being(["Complete"])),
		write_with({"successPolicy": {}}, {}, failed),
	] {
		said("ST6", a_write) == set()
	}
}

test_ST7_fires_on_removal if {
	said("ST7", write(being(["SuccessCriteriaMet"]), {})) == {
		`status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition`,
	}
}

test_ST7_silent_when_kept if {
	every a_write in [
		write(being(["SuccessCriteriaMet"]), complete),
	] {
		said("ST7", a_write) == set()
	}
}

test_ST8_fires_after_completion if {
	said("ST8", write(being(["Complete"]), being(["Complete", "SuccessCriteriaMet"]))) == {
		`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions`,
	}
}

test_ST8_silent_before_completion if {
	every a_write in [
		write({}, complete),
		write(complete, complete),
	] {
		said("ST8", a_write) == set()
	}
}

test_ST9_fires_on_removal if {
	said("ST9", write(being(["Failed", "Complete", "FailureTarget"]), {"conditions": [{"type": "Failed", "status": "False"}]})) == {
		`status.conditions: Invalid value: cannot disable the terminal Failed=True condition`,
		`status.conditions: Invalid value: cannot disable the terminal Complete=True condition`,
		`status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition`,
	}
}

test_ST9_silent_when_kept if {
	every a_write in [
		write(failed, failed),
		write(being(["Suspended"]), {}),
	] {
		said("ST9", a_write) == set()
	}
}

test_ST13_fires_on_both if {
	said("ST13", write(being(["Failed"]), being(["Failed", "Complete"]))) == {
		`status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions`,
	}
}

test_ST13_silent_without_change if {
	every a_write in [
		write(being(["Failed", "Complete"]), being(["Failed", "Complete"])),
		write({}, failed),
		write({}, complete),
	] {
		said("ST13", a_write) == set()
	}
}

test_ST14_fires_on_both if {
	said("ST14", write(being(["FailureTarget"]), being(["FailureTarget", "Complete"]))) == {
		`status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions`,
	}
}

test_ST14_silent_without_change if {
	every a_write in [
		write(being(["FailureTarget", "Complete"]), being(["FailureTarget", "Complete"])),
		write({}, failed),
		write({}, complete),
	] {
		said("ST14", a_write) == set()
	}
}

test_ST18_fires_without_target if {
	said("ST18", write({}, being(["Failed"]))) == {
		`status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition`,
	}
}

test_ST18_fires_when_failed_indexes_change if {
	said("ST18", write(being(["Failed"]), being_and(["Failed"], {"failedIndexes": "1"}))) == {
		`status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition`,
	}
}

test_ST18_silent_with_target_or_without_change if {
	every a_write in [
		write({}, failed),
		write(being(["Failed"]), being(["Failed"])),
		write({}, complete),
	] {
		said("ST18", a_write) == set()
	}
}

test_ST19_fires_without_criteria if {
	said("ST19", write({}, being(["Complete"]))) == {
		`status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition`,
	}
}

test_ST19_silent_with_criteria_or_without_change if {
	every a_write in [
		write({}, complete),
		write(being(["Complete"]), being(["Complete"])),
	] {
		said("ST19", a_write) == set()
	}
}
