package podverdict.guardrails_test

broken_indexes := {
	"G-INDEX-LIMIT": {"patch": drop("backoffLimitPerIndex"), "field": "spec.backoffLimitPerIndex"},
	"G-INDEX-LIMIT-MAX": {"patch": put("backoffLimitPerIndex", 7), "field": "spec.backoffLimitPerIndex"},
	"G-INDEX-FAILED-MAX": {"patch": drop("maxFailedIndexes"), "field": "spec.maxFailedIndexes"},
	"G-INDEX-FAIL-INDEX": {
		"patch": policy([on_disruption("Ignore"), on_exit_codes("FailJob", "In", [42])]),
		"field": "spec.podFailurePolicy.rules[1].action",
	},
	"G-INDEX-RESTART-NEVER": {
		"patch": put("template/spec/restartPolicy", "OnFailure"),
		"field": "spec.template.spec.restartPolicy",
	},
}

test_indexes[note] if {
	shared_limit := drop("backoffLimitPerIndex")
	some note, case in {
		"a short Job": {
			"id": "G-INDEX-LIMIT",
			"patch": array.concat(shared_limit, put("completions", 99)),
			"broken": false,
		},
		"a short Job that is long by configuration": {
			"id": "G-INDEX-LIMIT",
			"patch": array.concat(shared_limit, put("completions", 10)),
			"settings": {"minCompletions": 10},
			"broken": true,
		},
		"a Job without indexes": {
			"id": "G-INDEX-LIMIT",
			"patch": array.concat(shared_limit, drop("completionMode")),
			"broken": false,
		},
		"a Job without completions": {
			"id": "G-INDEX-LIMIT",
			"patch": array.concat(shared_limit, drop("completions")),
			"broken": false,
		},
		"the most retries of an index": {
			"id": "G-INDEX-LIMIT-MAX",
			"patch": put("backoffLimitPerIndex", 6),
			"broken": false,
		},
		"retries of a wrong type": {
			"id": "G-INDEX-LIMIT-MAX",
			"patch": put("backoffLimitPerIndex", "many"),
			"broken": false,
		},
		"more than half fail": {
			"id": "G-INDEX-FAILED-MAX",
			"patch": put("maxFailedIndexes", 101),
			"broken": true,
		},
		"more than half may fail by configuration": {
			"id": "G-INDEX-FAILED-MAX",
			"patch": put("maxFailedIndexes", 101),
			"settings": {"maxPercent": 51},
			"broken": false,
		},
		"few indexes": {
			"id": "G-INDEX-FAILED-MAX",
			"patch": array.concat(drop("maxFailedIndexes"), put("completions", 9)),
			"broken": false,
		},
		"few indexes are many by configuration": {
			"id": "G-INDEX-FAILED-MAX",
			"patch": array.concat(drop("maxFailedIndexes"), put("completions", 9)),
			"settings": {"minCompletions": 1},
			"broken": true,
		},
		"no limit for each index": {
			"id": "G-INDEX-FAILED-MAX",
			"patch": array.concat(drop("maxFailedIndexes"), shared_limit),
			"broken": false,
		},
		"FailJob where all indexes share one limit": {
			"id": "G-INDEX-FAIL-INDEX",
			"patch": array.concat(shared_limit, policy([on_exit_codes("FailJob", "In", [42])])),
			"broken": false,
		},
		"FailJob for a condition of the Pod": {
			"id": "G-INDEX-FAIL-INDEX",
			"patch": policy([on_conditions("FailJob", [config_issue])]),
			"broken": false,
		},
		"OnFailure without a limit for each index": {
			"id": "G-INDEX-RESTART-NEVER",
			"patch": array.concat(shared_limit, put("template/spec/restartPolicy", "OnFailure")),
			"broken": false,
		},
	}
	findings := fields(case.id, case.patch, object.get(case, "settings", {}))
	count(findings) == 1 == case.broken
}
