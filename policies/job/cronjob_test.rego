package podverdict.job_test

cron(name, spec) := {
	"apiVersion": "batch/v1",
	"kind": "CronJob",
	"metadata": {"name": name},
	"spec": {"schedule": "@daily", "jobTemplate": {"spec": spec}},
}

test_cronjobs_have_a_path_of_their_own if {
	said("P1", cron("nightly", {"parallelism": -1})) == {concat("", [
		"spec.jobTemplate.spec.parallelism: Invalid value: -1: ",
		"must be greater than or equal to 0",
	])}
	said("F18", cron("nightly", {"podFailurePolicy": {"rules": [{"action": "Ignore"}]}})) == {concat("", [
		"spec.jobTemplate.spec.podFailurePolicy.rules[0]: Invalid value: ",
		"specifying one of OnExitCodes and OnPodConditions is required",
	])}
	said("F19", cron("nightly", {"podFailurePolicy": {}, "template": {"spec": {"restartPolicy": "OnFailure"}}})) == {concat("", [
		`spec.jobTemplate.spec.template.spec.restartPolicy: Invalid value: "OnFailure": `,
		`only "Never" is supported when podFailurePolicy is specified`,
	])}
}

test_cronjobs_get_no_defaults_but_the_condition_status if {
	said("CM2", cron("nightly", {"completionMode": "Indexed"})) == {concat("", [
		"spec.jobTemplate.spec.completions: Required value: ",
		"when completion mode is Indexed",
	])}
	said("F15", cron("nightly", {"podFailurePolicy": {"rules": [{"onPodConditions": [{"type": "X"}]}]}})) == set()
	spec := data.podverdict.job.spec with input as cron("nightly", {"completions": null})
	spec == {}
}

test_cronjobs_without_mode_are_not_indexed if {
	count(said("B8", cron("nightly", {"backoffLimitPerIndex": 1}))) == 1
	said("S1", cron("nightly", {"successPolicy": {"rules": []}})) == {concat("", [
		`spec.jobTemplate.spec.successPolicy: Invalid value: {"Rules":[]}: `,
		"requires indexed completion mode",
	])}
}

test_names_of_cronjobs_leave_no_room_for_an_index if {
	said("CM3", cron("a.b", {"completionMode": "Indexed", "completions": 1})) == set()
}

test_cronjobs_may_change if {
	said("U5", {
		"object": cron("nightly", {"managedBy": "example.com/a"}),
		"oldObject": cron("nightly", {"managedBy": "example.com/b"}),
	}) == set()
}
