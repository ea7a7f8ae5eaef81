package podverdict.admission_test

import data.podverdict.admission
import data.system.main

# A Job from before the rules: it has more parallelism and retries than guardrails like.
_old := {
	"apiVersion": "batch/v1",
	"kind": "Job",
	"metadata": {"name": "old", "finalizers": ["example.com/held"]},
	"spec": {
		"activeDeadlineSeconds": 60,
		"backoffLimit": 50,
		"parallelism": 5000,
		"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
		"template": {"spec": {"restartPolicy": "Never"}},
		"ttlSecondsAfterFinished": 60,
	},
}

_wide := "spec.parallelism: Guardrail G-PARALLELISM: 5000: must be at most 1000"

_stubborn := "spec.backoffLimit: Guardrail G-BACKOFF-LIMIT: 50: must be at most 10"

_request(operation, object, old_object) := {
	"apiVersion": "admission.k8s.io/v1",
	"kind": "AdmissionReview",
	"request": {"uid": "u", "operation": operation, "object": object, "oldObject": old_object},
}

_response(operation, object, old_object) := response if {
	response := admission.review.response with input as _request(operation, object, old_object)
}

_changed(path, value) := json.patch(_old, [{"op": "add", "path": path, "value": value}])

_allowed := {"uid": "u", "allowed": true, "warnings": []}

test_a_new_object_is_judged_as_a_whole if {
	response := _response("CREATE", _old, null)
	response.allowed == false
	response.uid == "u"
	response.status == {"code": 422, "reason": "Invalid", "message": concat("; ", [_stubborn, _wide])}
}

test_constraints_of_the_api_are_judged_too if {
	response := _response("CREATE", _changed("/spec/parallelism", -1), null)
	contains(response.status.message, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0")
}

test_a_good_object_is_allowed if {
	good := json.patch(_old, [
		{"op": "remove", "path": "/spec/parallelism"},
		{"op": "remove", "path": "/spec/backoffLimit"},
	])
	_response("CREATE", good, null) == _allowed
}

test_warnings_do_not_refuse if {
	response := _response("UPDATE", json.remove(_old, ["/spec/ttlSecondsAfterFinished"]), _old)
	response.allowed
	response.warnings == ["spec.ttlSecondsAfterFinished: Guardrail G-TTL: must be set, from 60 to 604800"]
}

test_what_is_broken_already_is_not_held_against_an_update if {
	every change in [
		_changed("/metadata/labels", {"a": "b"}),
		_changed("/metadata/finalizers", []),
		_changed("/spec/suspend", true),
		_changed("/spec/activeDeadlineSeconds", 120),
		_changed("/spec/parallelism", 1000),
		_old,
	] {
		_response("UPDATE", change, _old) == _allowed
	}
}

test_what_an_update_newly_breaks_is_refused if {
	response := _response("UPDATE", _changed("/spec/parallelism", 6000), _old)
	response.status.message == "spec.parallelism: Guardrail G-PARALLELISM: 6000: must be at most 1000"
}

test_a_constraint_of_updates_is_judged if {
	response := _response("UPDATE", _changed("/spec/completionMode", "Indexed"), _old)
	contains(response.status.message, "spec.completionMode: Invalid value: \"Indexed\": field is immutable")
}

test_a_fault_of_the_api_that_is_there_already_is_not_held_against_an_update if {
	faulty := _changed("/spec/ttlSecondsAfterFinished", -1)
	suspended := json.patch(faulty, [{"op": "add", "path": "/spec/suspend", "value": true}])
	_response("UPDATE", suspended, faulty) == _allowed
}

test_deletions_pass if _response("DELETE", null, _old) == _allowed

test_what_is_being_deleted_passes if {
	leaving := json.patch(_old, [
		{"op": "add", "path": "/metadata/deletionTimestamp", "value": "2026-01-01T00:00:00Z"},
		{"op": "replace", "path": "/spec/parallelism", "value": 6000},
	])
	_response("UPDATE", leaving, _old) == _allowed
}

test_subresources_pass if {
	request := object.union(_request("UPDATE", _changed("/spec/parallelism", 6000), _old), {"request": {"subResource": "status"}})
	admission.review.response == _allowed with input as request
}

test_a_wrong_configuration_refuses_what_is_new_and_not_what_exists if {
	created := _response("CREATE", _old, null) with data.podverdict.config.guardrails as {"G-NOTHING": {}}
	contains(created.status.message, "data.podverdict.config.guardrails.G-NOTHING: Configuration G-CONFIG: is not a guardrail")
	labelled := _response("UPDATE", _changed("/spec/suspend", true), _old) with data.podverdict.config.guardrails as {"G-NOTHING": {}}
	labelled == _allowed
}

test_what_is_no_review_has_no_answer if {
	not admission.review with input as _old
}

test_the_servers_default_decision_is_the_review if {
	answer := main with input as _request("UPDATE", _old, _old)
	answer == {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": _allowed}
}
