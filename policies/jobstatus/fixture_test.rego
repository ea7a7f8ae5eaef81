package podverdict.jobstatus_test

import data.podverdict.jobstatus

# A write to the status of an Indexed Job.
write(old_status, new_status) := write_with({}, old_status, new_status)

# The same with other members in the spec; null takes one away.
write_with(changes, old_status, new_status) := {"old": job(spec, old_status), "new": job(spec, new_status)} if {
	standard := {"completionMode": "Indexed", "completions": 10, "parallelism": 2, "backoffLimitPerIndex": 1, "suspend": false}
	spec := object.union(standard, changes)
}

job(spec, status) := {
	"apiVersion": "batch/v1",
	"kind": "Job",
	"metadata": {"name": "work", "namespace": "default", "uid": "1"},
	"spec": spec,
	"status": status,
}

# A status with conditions that are true.
being(types) := {"conditions": [{"type": type, "status": "True"} | some type in types]}

# The same with other members.
being_and(types, members) := object.union(being(types), members)

started := "2026-01-01T00:00:00Z"

ended := "2026-01-01T01:00:00Z"

complete := being_and(["SuccessCriteriaMet", "Complete"], {"startTime": started, "completionTime": ended})

failed := being_and(["FailureTarget", "Failed"], {"startTime": started})

# The messages of one rule.
said(id, a_write) := {finding.msg | some finding in (findings | unenforced); finding.id == id} if {
	findings := jobstatus.findings with input as a_write
	unenforced := jobstatus.unenforced with input as a_write
}

test_ordinary_writes_have_no_findings if {
	every a_write in [
		write({}, {}),
		write({}, {"startTime": started, "active": 2, "ready": 1, "terminating": 0}),
		write({"succeeded": 1, "completedIndexes": "0"}, {"succeeded": 2, "completedIndexes": "0,1", "failedIndexes": "5"}),
		write({"startTime": started}, being_and(["FailureTarget"], {"startTime": started})),
		write(being_and(["FailureTarget"], {"startTime": started}), failed),
		write(
			being_and(["SuccessCriteriaMet"], {"startTime": started, "succeeded": 1, "completedIndexes": "3"}),
			object.union(complete, {"succeeded": 1, "completedIndexes": "3"}),
		),
	] {
		findings := jobstatus.findings with input as a_write
		unenforced := jobstatus.unenforced with input as a_write
		findings | unenforced == set()
	}
}

test_hostile_writes_do_not_break_the_bundle if {
	every a_write in [null, {}, {"old": null, "new": null}, {"old": 1, "new": "x"}, write({"conditions": [null, 1, "x"]}, {"conditions": {"a": 1}})] {
		findings := jobstatus.findings with input as a_write
		findings == set()
	}
}
