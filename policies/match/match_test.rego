package podverdict.match_test

import data.podverdict.match

# The conformance vectors are the test of this package; here is what each of its rules
# does, to be read and covered without them.

pod := {
	"metadata": {"namespace": "default", "name": "p"},
	"status": {
		"phase": "Failed",
		"conditions": [{"type": "DisruptionTarget", "status": "True"}],
		"containerStatuses": [
			{"name": "main", "state": {"terminated": {"exitCode": 42}}},
			{"name": "helper", "state": {"terminated": {"exitCode": 0}}},
			{"name": "other", "state": {"running": {}}},
		],
		"initContainerStatuses": [{"name": "proxy", "state": {"terminated": {"exitCode": 143}}}],
	},
}

judged(rules, changes) := verdict if {
	verdict := match.verdict with input as object.union(changes, {"policy": {"rules": rules}, "pod": pod})
}

on(operator, values) := {"action": "FailJob", "onExitCodes": {"operator": operator, "values": values}}

on_condition(action, status) := {"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": status}]}

unmatched := {"terminal": true, "matched": false, "action": "Count", "counted": true}

test_exit_code_in_list if {
	judged([on("In", [1]), on("In", [42])], {}) == {
		"terminal": true,
		"matched": true,
		"action": "FailJob",
		"counted": true,
		"rule": 1,
		"container": "main",
		"exitCode": 42,
		"message": "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 1",
	}
}

test_condition if {
	judged([on_condition("Ignore", "True")], {}) == {
		"terminal": true,
		"matched": true,
		"action": "Ignore",
		"counted": false,
		"rule": 0,
		"condition": "DisruptionTarget",
		"message": "Pod default/p has condition DisruptionTarget matching Ignore rule at index 0",
	}
}

test_exit_code_not_in_list if judged([on("NotIn", [42])], {}).container == "proxy"

test_success_is_passed_over if judged([on("In", [0]), on("NotIn", [42, 143])], {}) == unmatched

test_container_name if {
	rule := object.union(on("NotIn", [1]), {"onExitCodes": {"containerName": "proxy"}})
	judged([rule], {}).container == "proxy"
	judged([object.union(rule, {"onExitCodes": {"containerName": "other"}})], {}) == unmatched
}

test_the_first_rule_decides if judged([on_condition("Count", "True"), on("In", [42])], {}).action == "Count"

test_the_unknown_is_skipped if {
	judged([on_condition("Retry", "True"), on("in", [42]), {"action": "FailJob"}, {}], {}) == unmatched
	judged([on_condition("Count", "False"), {"onPodConditions": null}], {}) == unmatched
}

test_exit_codes_go_first if {
	judged([object.union(on("In", [1]), on_condition("Ignore", "True"))], {}) == unmatched
}

test_failing_an_index_is_known_since_1_29 if {
	rules := [on_condition("FailIndex", "True")]
	judged(rules, {}).action == "FailIndex"
	judged(rules, {"kubernetes": "1.29"}).action == "FailIndex"
	judged(rules, {"kubernetes": "1.28"}) == unmatched
}

test_only_failed_pods_are_judged if {
	running := match.verdict with input as {"policy": {"rules": []}, "pod": {"status": {"phase": "Running"}}}
	running == {"terminal": false, "matched": false, "counted": false}
	without_phase := match.verdict with input as {"policy": null, "pod": {}}
	without_phase == unmatched
}
