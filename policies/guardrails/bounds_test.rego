package podverdict.guardrails_test

broken_bounds := {
	"G-IGNORE-BOUNDED": {
		"patch": array.concat(drop("activeDeadlineSeconds"), policy([on_exit_codes("Ignore", "In", [42])])),
		"field": "spec.podFailurePolicy.rules[0].action",
	},
	"G-DEADLINE": {"patch": drop("activeDeadlineSeconds"), "field": "spec.activeDeadlineSeconds"},
	"G-TTL": {"patch": drop("ttlSecondsAfterFinished"), "field": "spec.ttlSecondsAfterFinished"},
	"G-BACKOFF-LIMIT": {
		"patch": array.concat(drop("backoffLimitPerIndex"), put("backoffLimit", 11)),
		"field": "spec.backoffLimit",
	},
	"G-PARALLELISM": {"patch": put("parallelism", 1001), "field": "spec.parallelism"},
	"G-SUCCESS-COUNT": {
		"patch": put("successPolicy/rules/0/succeededCount", 0),
		"field": "spec.successPolicy.rules[0].succeededCount",
	},
}

test_ignore_bounded[note] if {
	action := "spec.podFailurePolicy.rules[0].action"
	endless := drop("activeDeadlineSeconds")
	some note, case in {
		"with a deadline": {"patch": policy([on_exit_codes("Ignore", "In", [42])]), "fields": set()},
		"disruptions end": {"patch": array.concat(endless, policy([on_disruption("Ignore")])), "fields": set()},
		"disruptions may not end": {
			"patch": array.concat(endless, policy([on_disruption("Ignore")])),
			"settings": {"includeDisruptions": true},
			"fields": {action},
		},
		"another condition beside a disruption": {
			"patch": array.concat(endless, policy([on_conditions("Ignore", [{"type": "DisruptionTarget"}, config_issue])])),
			"fields": {action},
		},
		"a disruption beside exit codes": {
			"patch": array.concat(
				endless,
				policy([object.union(on_exit_codes("Ignore", "In", [42]), on_disruption("Ignore"))]),
			),
			"fields": {action},
		},
		"counted": {"patch": array.concat(endless, policy([on_exit_codes("Count", "In", [42])])), "fields": set()},
	}
	fields("G-IGNORE-BOUNDED", case.patch, object.get(case, "settings", {})) == case.fields
}

test_bounds[note] if {
	shared_limit := drop("backoffLimitPerIndex")
	some note, case in {
		"the longest deadline": {"id": "G-DEADLINE", "patch": put("activeDeadlineSeconds", 604800), "broken": false},
		"too long a deadline": {"id": "G-DEADLINE", "patch": put("activeDeadlineSeconds", 604801), "broken": true},
		"a deadline of nothing": {"id": "G-DEADLINE", "patch": put("activeDeadlineSeconds", 0), "broken": true},
		"a deadline of a wrong type": {"id": "G-DEADLINE", "patch": put("activeDeadlineSeconds", "1h"), "broken": true},
		"too long a deadline by configuration": {
			"id": "G-DEADLINE",
			"patch": put("activeDeadlineSeconds", 61),
			"settings": {"max": 60},
			"broken": true,
		},
		"removed at once": {"id": "G-TTL", "patch": put("ttlSecondsAfterFinished", 0), "broken": true},
		"removed at once by configuration": {
			"id": "G-TTL",
			"patch": put("ttlSecondsAfterFinished", 0),
			"settings": {"min": 0},
			"broken": false,
		},
		"kept too long": {"id": "G-TTL", "patch": put("ttlSecondsAfterFinished", 604801), "broken": true},
		"the most retries": {
			"id": "G-BACKOFF-LIMIT",
			"patch": array.concat(shared_limit, put("backoffLimit", 10)),
			"broken": false,
		},
		"the API's own retries": {"id": "G-BACKOFF-LIMIT", "patch": shared_limit, "broken": false},
		"the API's own retries are too many": {
			"id": "G-BACKOFF-LIMIT",
			"patch": shared_limit,
			"settings": {"max": 5},
			"broken": true,
		},
		"the limit of all indexes together": {"id": "G-BACKOFF-LIMIT", "patch": put("backoffLimit", 99), "broken": false},
		"the most Pods": {"id": "G-PARALLELISM", "patch": put("parallelism", 1000), "broken": false},
		"too many Pods by configuration": {
			"id": "G-PARALLELISM",
			"patch": put("parallelism", 6),
			"settings": {"max": 5},
			"broken": true,
		},
		"Pods of a wrong type": {"id": "G-PARALLELISM", "patch": put("parallelism", "many"), "broken": false},
		"a successPolicy of a wrong type": {
			"id": "G-SUCCESS-COUNT",
			"patch": put("successPolicy/rules", {"a": {"succeededCount": 0}}),
			"broken": false,
		},
		"a time of a wrong type": {"id": "G-TTL", "patch": put("ttlSecondsAfterFinished", "1h"), "broken": true},
		"no successPolicy": {"id": "G-SUCCESS-COUNT", "patch": drop("successPolicy"), "broken": false},
	}
	findings := fields(case.id, case.patch, object.get(case, "settings", {}))
	count(findings) == 1 == case.broken
}

test_jobs_with_an_owner_may_lack_a_ttl[note] if {
	endless := json.patch(clean, drop("ttlSecondsAfterFinished"))
	some note, case in {
		"a controller": {"owners": [{"kind": "JobSet", "controller": true}], "count": 0},
		"an owner that does not control": {"owners": [{"kind": "Team", "controller": false}], "count": 1},
		"no owner": {"owners": [], "count": 1},
	}
	owned := json.patch(endless, [{"op": "add", "path": "/metadata/ownerReferences", "value": case.owners}])
	count(found(owned, {})) == case.count
}

test_cron_jobs_may_lack_a_ttl if {
	found(cron_job(json.patch(clean, drop("ttlSecondsAfterFinished"))), everything) == set()
}
