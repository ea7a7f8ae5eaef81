package podverdict.main_test

import data.main

test_deny_holds_what_the_api_server_refuses if {
	found := main.deny with data.podverdict.job.findings as {{"id": "P1", "msg": "m"}} with data.podverdict.guardrails.findings as set()
	found == {{"id": "P1", "msg": "m"}}
}

test_warn_holds_warnings if {
	found := main.warn with data.podverdict.job.warnings as {{"id": "P8", "msg": "m"}} with data.podverdict.guardrails.findings as set()
	found == {{"id": "P8", "msg": "m"}}
}

test_guardrails_go_by_severity if {
	guardrails := {{"id": "G1", "msg": "e", "severity": "error"}, {"id": "G2", "msg": "w", "severity": "warning"}}
	denied := main.deny with data.podverdict.guardrails.findings as guardrails with data.podverdict.job.findings as set()
	warned := main.warn with data.podverdict.guardrails.findings as guardrails with data.podverdict.job.warnings as set()
	{finding.id | some finding in denied} == {"G1"}
	{finding.id | some finding in warned} == {"G2"}
}

_job(name, limit) := {
	"apiVersion": "batch/v1",
	"kind": "Job",
	"metadata": {"name": name},
	"spec": {"backoffLimit": limit, "template": {"spec": {"restartPolicy": "Never"}}},
}

_fault := "spec.backoffLimit: Invalid value: -3: must be greater than or equal to 0"

_denied(document) := {finding.msg | some finding in found} if found := main.deny with input as document

_warned(document) := {finding.msg | some finding in found} if found := main.warn with input as document

test_items_of_a_list_are_judged_one_by_one if {
	list := {"apiVersion": "v1", "kind": "List", "items": [_job("good", 1), _job("bad", -3)]}
	_denied(list) == {sprintf("Job bad: %s", [_fault])}
	"Job good: spec.podFailurePolicy: Guardrail G-POLICY-REQUIRED: must be set and have rules" in _warned(list)
	_denied({"apiVersion": "v1", "kind": "List", "items": [list]}) == _denied(list)
}

test_combined_files_are_judged_one_by_one if {
	unnamed := json.remove(_job("x", -3), ["metadata"])
	combined := [{"path": "a.yaml", "contents": _job("good", 1)}, {"path": "b.yaml", "contents": unnamed}]
	_denied(combined) == {sprintf("b.yaml: Job: %s", [_fault])}
	"a.yaml: Job good: spec.podFailurePolicy: Guardrail G-POLICY-REQUIRED: must be set and have rules" in _warned(combined)
}

test_documents_in_an_array_are_judged_one_by_one if _denied([_job("bad", -3)]) == {sprintf("Job bad: %s", [_fault])}

test_a_job_within_another_object_is_not_judged if {
	_denied({"apiVersion": "example.com/v1", "kind": "Workflow", "spec": {"job": _job("bad", -3)}}) == set()
}

test_a_job_is_judged_once if _denied(_job("bad", -3)) == {_fault}
