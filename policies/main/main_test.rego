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
