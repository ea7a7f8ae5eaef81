package podverdict.jobstatus_test

test_ST12_fires_on_change if {
	said("ST12", write(complete, object.union(complete, {"completionTime": "2026-01-01T03:00:00+01:00"}))) == {
		`status.completionTime: Invalid value: "2026-01-01T02:00:00Z": field is immutable`,
	}
}

test_ST12_silent_on_the_same_instant if {
	every a_write in [
		write(complete, object.union(complete, {"completionTime": "2026-01-01T02:00:00+01:00"})),
		write({}, complete),
		write({"completionTime": ended}, {}),
	] {
		said("ST12", a_write) == set()
	}
}

test_ST15_fires_without_completion if {
	said("ST15", write({}, {"completionTime": ended})) == {
		`status.completionTime: Invalid value: "2026-01-01T01:00:00Z": cannot set completionTime when there is no Complete=True condition`,
	}
}

test_ST15_silent_with_completion_or_without_change if {
	every a_write in [
		write({}, complete),
		write({"completionTime": ended}, {"completionTime": ended}),
	] {
		said("ST15", a_write) == set()
	}
}

test_ST15_fires_when_completion_goes if {
	said("ST15", write(complete, {"completionTime": ended})) == {
		`status.completionTime: Invalid value: "2026-01-01T01:00:00Z": cannot set completionTime when there is no Complete=True condition`,
	}
}

test_ST16_fires_without_time if {
	said("ST16", write({}, being(["Complete"]))) == {
		`status.completionTime: Required value: completionTime is required for Complete jobs`,
	}
}

test_ST16_silent_with_time_or_without_change if {
	every a_write in [
		write({}, complete),
		write(being(["Complete"]), being(["Complete"])),
	] {
		said("ST16", a_write) == set()
	}
}

test_ST17_fires_before_start if {
	said("ST17", write({}, {"startTime": ended, "completionTime": started})) == {
		concat("", [`status.completionTime: Invalid value: "2026-01-01T00:00:00Z": `, "must be equal to or after `startTime`"]),
	}
}

test_ST17_silent_at_start_or_without_change if {
	every a_write in [
		write({}, {"startTime": started, "completionTime": started}),
		write({"startTime": ended, "completionTime": started}, {"startTime": ended, "completionTime": started}),
		write({}, {"startTime": ended}),
	] {
		said("ST17", a_write) == set()
	}
}

test_ST21_fires_without_start if {
	said("ST21", write({}, being(["Failed"]))) == {
		`status.startTime: Required value: startTime is required for finished job`,
	}
}

test_ST21_fires_when_start_goes if {
	said("ST21", write(failed, being(["Failed"]))) == {
		`status.startTime: Required value: startTime is required for finished job`,
	}
}

test_ST21_silent_with_start_or_nothing_to_start if {
	every a_write in [
		write({}, failed),
		write_with({"suspend": true, "completions": 0}, {}, being(["Failed"])),
		write(being(["Failed"]), being(["Failed"])),
	] {
		said("ST21", a_write) == set()
	}
}

test_ST30_fires_on_change if {
	said("ST30", write({"startTime": started}, {"startTime": ended})) == {
		`status.startTime: Invalid value: "2026-01-01T01:00:00Z": field is immutable for unsuspended job once set`,
	}
}

test_ST30_fires_on_removal if {
	said("ST30", write({"startTime": started}, {})) == {
		`status.startTime: Invalid value: null: field is immutable for unsuspended job once set`,
	}
}

test_ST30_silent_while_suspended_or_resuming if {
	every a_write in [
		write_with({"suspend": true}, {"startTime": started}, {"startTime": ended}),
		write(being_and(["Suspended"], {"startTime": started}), {"startTime": ended, "conditions": [{"type": "Suspended", "status": "False"}]}),
		write({}, {"startTime": ended}),
	] {
		said("ST30", a_write) == set()
	}
}
