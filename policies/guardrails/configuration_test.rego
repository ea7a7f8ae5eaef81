package podverdict.guardrails_test

import data.podverdict.guardrails

mistakes(configuration) := {{"field": finding.field, "detail": finding.detail} |
	some finding in found(clean, configuration)
	finding.id == "G-CONFIG"
	finding.type == "Configuration"
	finding.severity == "error"
	finding.msg == sprintf("%s: Configuration G-CONFIG: %s", [finding.field, finding.detail])
}

test_defaults_are_a_configuration if mistakes(guardrails.defaults) == set()

test_configuration_may_be_missing if {
	guardrails.config == guardrails.defaults
	guardrails.configuration_errors == set()
}

test_configuration_is_merged if {
	config := guardrails.config with data.podverdict.config.guardrails as {"G-TTL": {"max": 100}}
	config["G-TTL"] == {"enabled": true, "severity": "warning", "min": 60, "max": 100}
	config["G-DEADLINE"] == guardrails.defaults["G-DEADLINE"]
}

test_mistake_is_found_and_leaves_the_default[note] if {
	some note, case in {
		"no object": {
			"configuration": ["G-TTL"],
			"field": "",
			"detail": "must be an object of settings by guardrail id",
		},
		"null": {
			"configuration": null,
			"field": "",
			"detail": "must be an object of settings by guardrail id",
		},
		"unknown guardrail": {
			"configuration": {"G-TLT": {"enabled": false, "severity": "fatal"}},
			"field": ".G-TLT",
			"detail": "is not a guardrail",
		},
		"settings that are no object": {
			"configuration": {"G-TTL": false},
			"field": ".G-TTL",
			"detail": "must be an object of settings",
		},
		"settings that are a list": {
			"configuration": {"G-TTL": [60]},
			"field": ".G-TTL",
			"detail": "must be an object of settings",
		},
		"unknown parameter": {
			"configuration": {"G-TTL": {"maximum": 5}},
			"field": ".G-TTL.maximum",
			"detail": "is not a parameter of this guardrail",
		},
		"string for a switch": {
			"configuration": {"G-TTL": {"enabled": "no"}},
			"field": ".G-TTL.enabled",
			"detail": "must be true or false",
		},
		"unknown severity": {
			"configuration": {"G-TTL": {"severity": "fatal"}},
			"field": ".G-TTL.severity",
			"detail": "must be one of error, warning",
		},
		"number for a severity": {
			"configuration": {"G-TTL": {"severity": 1}},
			"field": ".G-TTL.severity",
			"detail": "must be a string",
		},
		"string for a number": {
			"configuration": {"G-BACKOFF-LIMIT": {"max": "3"}},
			"field": ".G-BACKOFF-LIMIT.max",
			"detail": "must be a whole number, 0 or more",
		},
		"negative number": {
			"configuration": {"G-BACKOFF-LIMIT": {"max": -1}},
			"field": ".G-BACKOFF-LIMIT.max",
			"detail": "must be a whole number, 0 or more",
		},
		"fraction": {
			"configuration": {"G-BACKOFF-LIMIT": {"max": 1.5}},
			"field": ".G-BACKOFF-LIMIT.max",
			"detail": "must be a whole number, 0 or more",
		},
		"null for a number": {
			"configuration": {"G-BACKOFF-LIMIT": {"max": null}},
			"field": ".G-BACKOFF-LIMIT.max",
			"detail": "must be a whole number, 0 or more",
		},
		"more than all": {
			"configuration": {"G-INDEX-FAILED-MAX": {"maxPercent": 101}},
			"field": ".G-INDEX-FAILED-MAX.maxPercent",
			"detail": "must be at most 100",
		},
		"empty list": {
			"configuration": {"G-KILL-CODES": {"codes": []}},
			"field": ".G-KILL-CODES.codes",
			"detail": "must be a list of whole numbers, one at least",
		},
		"empty list of strings": {
			"configuration": {"G-REPLACEMENT-SCARCE": {"resources": []}},
			"field": ".G-REPLACEMENT-SCARCE.resources",
			"detail": "must be a list of strings, one at least",
		},
		"an object for a list": {
			"configuration": {"G-KILL-CODES": {"codes": {"a": 137}}},
			"field": ".G-KILL-CODES.codes",
			"detail": "must be a list of whole numbers, one at least",
		},
		"a string for a list": {
			"configuration": {"G-REPLACEMENT-SCARCE": {"resources": "nvidia.com/gpu"}},
			"field": ".G-REPLACEMENT-SCARCE.resources",
			"detail": "must be a list of strings, one at least",
		},
		"strings for numbers": {
			"configuration": {"G-KILL-CODES": {"codes": ["137"]}},
			"field": ".G-KILL-CODES.codes",
			"detail": "must be a list of whole numbers, one at least",
		},
		"numbers for strings": {
			"configuration": {"G-REPLACEMENT-SCARCE": {"resources": [1]}},
			"field": ".G-REPLACEMENT-SCARCE.resources",
			"detail": "must be a list of strings, one at least",
		},
		"a mixed list": {
			"configuration": {"G-KILL-CODES": {"codes": [1, "2"]}},
			"field": ".G-KILL-CODES.codes",
			"detail": "must be a list of whole numbers, one at least",
		},
		"unknown action": {
			"configuration": {"G-DISRUPTION-ACTION": {"actions": ["Ignore", "Retry"]}},
			"field": ".G-DISRUPTION-ACTION.actions",
			"detail": "must be one of FailJob, FailIndex, Ignore, Count",
		},
		"min above the default max": {
			"configuration": {"G-TTL": {"min": 700000}},
			"field": ".G-TTL.min",
			"detail": "min must be less than or equal to max",
		},
		"max below the default min": {
			"configuration": {"G-TTL": {"max": 0}},
			"field": ".G-TTL.max",
			"detail": "min must be less than or equal to max",
		},
	}
	field := concat("", ["data.podverdict.config.guardrails", case.field])
	mistakes(case.configuration) == {{"field": field, "detail": case.detail}}
	config := guardrails.config with data.podverdict.config.guardrails as case.configuration
	config == guardrails.defaults
}

test_min_and_max_move_together if {
	configuration := {"G-TTL": {"min": 700000, "max": 800000}}
	mistakes(configuration) == set()
	fields("G-TTL", put("ttlSecondsAfterFinished", 750000), configuration["G-TTL"]) == set()
}

test_mistakes_are_all_found if {
	count(mistakes({"G-TTL": {"min": "1", "maximum": 2, "severity": "x"}, "G-X": {}})) == 4
}

test_gatekeeper_parameters_are_the_configuration if {
	review := {"review": {"object": json.patch(clean, put("backoffLimitPerIndex", 3))}}
	found(object.union(review, {"parameters": {"guardrails": {"G-INDEX-LIMIT-MAX": {"max": 2}}}}), {}) == {{
		"id": "G-INDEX-LIMIT-MAX",
		"field": "spec.backoffLimitPerIndex",
		"type": "Guardrail",
		"value": 3,
		"detail": "must be at most 2",
		"msg": "spec.backoffLimitPerIndex: Guardrail G-INDEX-LIMIT-MAX: 3: must be at most 2",
		"severity": "error",
	}}
	some finding in found(object.union(review, {"parameters": {"guardrails": {"G-X": {}}}}), {})
	finding.field == "parameters.guardrails.G-X"
}

test_gatekeeper_without_parameters_reads_data if {
	some finding in found({"review": {"object": clean}, "parameters": {}}, {"G-X": {}})
	finding.field == "data.podverdict.config.guardrails.G-X"
}

# Else a manifest could switch off its own guardrails.
test_manifest_is_no_configuration if {
	off := object.union(job_of("G-TTL"), {
		"review": {"object": clean},
		"parameters": {"guardrails": {"G-TTL": {"enabled": false}}},
	})
	found(off, {}) == found(job_of("G-TTL"), {})
	some finding in found(off, {"G-X": {}})
	finding.field == "data.podverdict.config.guardrails.G-X"
}
