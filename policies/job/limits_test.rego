package podverdict.job_test

test_P1_fires_below_zero if {
	said("P1", changed(plain, {"parallelism": -1})) == {
		`spec.parallelism: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_P1_silent_at_zero if {
	every object_ in [
		changed(indexed, {"parallelism": 0}),
		plain,
	] {
		said("P1", object_) == set()
	}
}

test_P2_fires_below_zero if {
	said("P2", changed(plain, {"completions": -1})) == {
		`spec.completions: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_P2_silent_at_zero if {
	every object_ in [
		changed(indexed, {"completions": 0}),
		plain,
	] {
		said("P2", object_) == set()
	}
}

test_P3_fires_below_zero if {
	said("P3", changed(plain, {"activeDeadlineSeconds": -1})) == {
		`spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_P3_silent_at_zero if {
	every object_ in [
		changed(indexed, {"activeDeadlineSeconds": 0}),
		plain,
	] {
		said("P3", object_) == set()
	}
}

test_P4_fires_below_zero if {
	said("P4", changed(plain, {"backoffLimit": -1})) == {
		`spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_P4_silent_at_zero if {
	every object_ in [
		changed(indexed, {"backoffLimit": 0}),
		plain,
	] {
		said("P4", object_) == set()
	}
}

test_P5_fires_below_zero if {
	said("P5", changed(plain, {"ttlSecondsAfterFinished": -1})) == {
		`spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0`,
	}
}

test_P5_silent_at_zero if {
	every object_ in [
		changed(indexed, {"ttlSecondsAfterFinished": 0}),
		plain,
	] {
		said("P5", object_) == set()
	}
}

test_P6_fires_above_limit if {
	said("P6", changed(indexed, {"parallelism": 100001})) == {
		`spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed`,
	}
}

test_P6_silent_at_limit_or_without_indexes if {
	every object_ in [
		changed(indexed, {"parallelism": 100000}),
		changed(plain, {"parallelism": 100001}),
	] {
		said("P6", object_) == set()
	}
}

test_P7_fires_above_limit if {
	said(
		"P7",
		changed(indexed, {"parallelism": 10001, "completions": 100001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 1}),
	) == {
		`spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index`,
	}
}

test_P7_silent_at_limit if {
	every object_ in [
		changed(indexed, {"parallelism": 10000, "completions": 100001, "backoffLimitPerIndex": 1}),
		changed(indexed, {"parallelism": 10001, "completions": 100000, "backoffLimitPerIndex": 1}),
		changed(indexed, {"parallelism": 10001, "completions": 100001}),
	] {
		said("P7", object_) == set()
	}
}

test_P8_fires_on_very_many_indexes if {
	warned(large) == {concat(" ", [
		"spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4,",
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
	])}
	warned({"object": large, "oldObject": indexed}) == warned(large)
}

test_P8_silent_at_limit_or_without_change if {
	warned(changed(large, {"completions": 100000})) == set()
	warned(changed(large, {"parallelism": 10000})) == set()
	warned(changed(large, {"completionMode": null})) == set()
	warned({"object": large, "oldObject": large}) == set()
}

test_P8_fires_on_cronjobs_that_change if {
	nightly := cron("nightly", large.spec)
	warned(nightly) == {concat(".", ["spec.jobTemplate", message]) | some message in warned(large)}
	warned({"object": nightly, "oldObject": cron("nightly", indexed.spec)}) == warned(nightly)
	warned({"object": nightly, "oldObject": nightly}) == set()
}

large := changed(indexed, {"completions": 100001, "parallelism": 10001})

warned(object_) := {warning.msg | some warning in warnings; warning.id == "P8"} if {
	warnings := data.podverdict.job.warnings with input as object_
}
