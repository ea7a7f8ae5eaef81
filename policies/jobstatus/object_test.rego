package podverdict.jobstatus_test

test_ST31_fires_on_other_metadata if {
	said("ST31", renamed({"name": "other", "namespace": "else", "uid": "2"})) == {
		`metadata.name: Invalid value: "other": field is immutable`,
		`metadata.namespace: Invalid value: "else": field is immutable`,
		`metadata.uid: Invalid value: "2": field is immutable`,
	}
}

test_ST31_fires_on_another_spec if {
	warned(object.union(write({}, {}), {"new": {"spec": {"completions": 11}}})) == {"spec: a write to the status does not change the spec"}
}

test_ST31_silent_on_the_same if {
	said("ST31", renamed({"labels": {"a": "b"}})) == set()
	warned(write({}, {"active": 1})) == set()
	warned({"old": job({"completions": 1}, {}), "new": {"status": {}}}) == set()
}

renamed(metadata) := object.union(write({}, {}), {"new": {"metadata": metadata}})

warned(a_write) := {warning.msg | some warning in warnings} if {
	warnings := data.podverdict.jobstatus.warnings with input as a_write
}
