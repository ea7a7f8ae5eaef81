package podverdict.job_test

test_defaults_of_a_job if {
	defaulted({}) == {
		"backoffLimit": 6,
		"completionMode": "NonIndexed",
		"completions": 1,
		"parallelism": 1,
		"podReplacementPolicy": "TerminatingOrFailed",
		"suspend": false,
	}
}

test_null_is_absent if defaulted({"parallelism": null, "managedBy": null}) == defaulted({})

test_parallelism_takes_the_default_of_completions_away if {
	not defaulted({"parallelism": 2}).completions
	defaulted({"completions": 2}).parallelism == 1
}

test_a_limit_per_index_lifts_the_limit if defaulted({"backoffLimitPerIndex": 1}).backoffLimit == 2147483647

test_a_failure_policy_asks_for_failed_pods if defaulted({"podFailurePolicy": {}}).podReplacementPolicy == "Failed"

test_conditions_are_true if {
	exit_codes := {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}
	patterns := [{"type": "A"}, {"type": "B", "status": ""}, {"type": "C", "status": "False"}]
	rules := [{"action": "Ignore", "onPodConditions": patterns}, exit_codes]
	defaulted({"podFailurePolicy": {"rules": rules}}).podFailurePolicy.rules == [
		{"action": "Ignore", "onPodConditions": [
			{"type": "A", "status": "True"},
			{"type": "B", "status": "True"},
			{"type": "C", "status": "False"},
		]},
		exit_codes,
	]
}

defaulted(spec) := data.podverdict.job.defaulted_spec(spec)
