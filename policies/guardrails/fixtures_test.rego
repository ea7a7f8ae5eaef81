package podverdict.guardrails_test

import data.podverdict.guardrails

# A Job that breaks no guardrail, whatever is on.
clean := {
	"apiVersion": "batch/v1",
	"kind": "Job",
	"metadata": {"name": "tidy", "namespace": "default"},
	"spec": {
		"parallelism": 10,
		"completions": 200,
		"completionMode": "Indexed",
		"backoffLimitPerIndex": 1,
		"maxFailedIndexes": 100,
		"activeDeadlineSeconds": 3600,
		"ttlSecondsAfterFinished": 86400,
		"podReplacementPolicy": "Failed",
		"managedBy": "kubernetes.io/job-controller",
		"successPolicy": {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]},
		"podFailurePolicy": {"rules": [
			{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
			{"action": "FailIndex", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
			{"action": "Count", "onExitCodes": {"containerName": "main", "operator": "NotIn", "values": [0]}},
		]},
		"template": {"spec": {
			"restartPolicy": "Never",
			"initContainers": [
				{"name": "fetch"},
				{"name": "log", "restartPolicy": "Always"},
			],
			"containers": [{"name": "main"}, {"name": "metrics"}],
		}},
	},
}

# What only the tests of all guardrails together turn on.
everything := {"G-REPLACEMENT-INDEXED": {"enabled": true}}

policy(rules) := [{"op": "add", "path": "/spec/podFailurePolicy/rules", "value": rules}]

put(field, value) := [{"op": "add", "path": sprintf("/spec/%s", [field]), "value": value}]

drop(field) := [{"op": "remove", "path": sprintf("/spec/%s", [field])}]

on_disruption(action) := {"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}

on_exit_codes(action, operator, values) := {
	"action": action,
	"onExitCodes": {"containerName": "main", "operator": operator, "values": values},
}

# The fields where a guardrail, configured so, finds the patched Job broken.
fields(id, patch, settings) := {finding.field |
	some finding in found(json.patch(clean, patch), {id: settings})
	finding.id == id
}

found(judged, configuration) := findings if {
	findings := guardrails.findings with input as judged
		with data.podverdict.config.guardrails as configuration
}

cron_job(job) := {
	"apiVersion": "batch/v1",
	"kind": "CronJob",
	"metadata": {"name": "nightly"},
	"spec": {"schedule": "0 3 * * *", "jobTemplate": {"metadata": {}, "spec": job.spec}},
}
