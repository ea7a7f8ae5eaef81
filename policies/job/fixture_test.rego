package podverdict.job_test

import data.podverdict.job

# A legal Indexed Job.
indexed := {
	"apiVersion": "batch/v1",
	"kind": "Job",
	"metadata": {"name": "work", "namespace": "default"},
	"spec": {
		"completionMode": "Indexed",
		"completions": 10,
		"parallelism": 2,
		"template": {"spec": {
			"restartPolicy": "Never",
			"containers": [{"name": "main", "image": "example.com/main:1"}],
			"initContainers": [{"name": "proxy", "image": "example.com/proxy:1", "restartPolicy": "Always"}],
			"ephemeralContainers": [{"name": "debug"}],
		}},
	},
}

# The same without indexes.
plain := object.union(object.remove(indexed, ["spec"]), {"spec": object.remove(indexed.spec, ["completionMode"])})

# An object with some members of its spec replaced; null takes one away.
changed(object_, spec) := object.union(object.remove(object_, ["spec"]), {"spec": object.union(
	object.remove(object_.spec, object.keys(spec)),
	{name: member | some name, member in spec; member != null},
)})

# What the API server says of names.
alphanumeric := concat("", [
	"must consist of alphanumeric characters, '-', '_' or '.', ",
	"and must start and end with an alphanumeric character ",
	"(e.g. 'MyName',  or 'my.name',  or '123-abc', ",
	"regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
])

lowercase := concat("", [
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ",
	"and must start and end with an alphanumeric character ",
	"(e.g. 'example.com', ",
	`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
])

# Rules of a failure policy in a Job.
with_rules(rules) := changed(indexed, {"podFailurePolicy": {"rules": rules}})

# One rule on exit codes.
with_exit_codes(requirement) := with_rules([{"action": "FailJob", "onExitCodes": requirement}])

# One rule on conditions.
with_conditions(patterns) := with_rules([{"action": "Ignore", "onPodConditions": patterns}])

# Rules of a success policy in a Job.
with_success(rules) := changed(indexed, {"successPolicy": {"rules": rules}})

# The messages of one constraint.
said(id, object_) := {finding.msg | some finding in findings; finding.id == id} if {
	findings := job.findings with input as object_
}

# A legal Job that changes from one spec to another.
updated(old_spec, new_spec) := {"object": changed(indexed, new_spec), "oldObject": changed(indexed, old_spec)}

test_legal_jobs_have_no_findings if {
	every object_ in [indexed, plain] {
		findings := job.findings with input as object_
		warnings := job.warnings with input as object_
		findings | warnings == set()
	}
}

test_other_kinds_have_no_findings if {
	every object_ in [
		{},
		{"kind": "Job"},
		object.union(indexed, {"kind": "Pod"}),
		object.union(indexed, {"apiVersion": "batch.volcano.sh/v1alpha1"}),
		[indexed],
		null,
	] {
		findings := job.findings with input as object_
		findings == set()
	}
}

test_every_shape_of_input_is_understood if {
	wrong := changed(indexed, {"parallelism": -1})
	every shape in [
		wrong,
		{"object": wrong},
		{"object": wrong, "oldObject": null},
		{"review": {"object": wrong, "oldObject": null}},
		{"review": {"object": wrong}, "parameters": {}},
		{"request": {"object": wrong, "oldObject": null}},
	] {
		count(said("P1", shape)) == 1
	}
	moved := changed(indexed, {"managedBy": "example.com/other"})
	every shape in [
		{"object": moved, "oldObject": indexed},
		{"review": {"object": moved, "oldObject": indexed}},
		{"request": {"object": moved, "oldObject": indexed}},
	] {
		count(said("U5", shape)) == 1
	}
}

test_wrong_types_do_not_break_the_bundle if {
	every spec in [null, 1, "spec", [], {"podFailurePolicy": "x"}, {"podFailurePolicy": {"rules": {}}}] {
		findings := job.findings with input as object.union(object.remove(indexed, ["spec"]), {"spec": spec})
		{finding.id | some finding in findings} == {"F20"}
	}
	no_template := job.findings with input as changed(indexed, {"template": 1, "parallelism": -1})
	{finding.id | some finding in no_template} == {"P1"}
	every rules in [[null], ["x"], [{"action": 1, "onExitCodes": "x", "onPodConditions": 7}], 5] {
		findings := job.findings with input as with_rules(rules)
		is_set(findings)
	}
	no_metadata := job.findings with input as object.remove(changed(indexed, {"parallelism": -1}), ["metadata"])
	{finding.id | some finding in no_metadata} == {"CM3", "P1"}
}

test_a_manifest_cannot_pass_for_a_wrapper if {
	faulty := changed(indexed, {"parallelism": -1})
	every wrapper in [{"object": indexed}, {"review": {"object": indexed}}, {"request": {"object": indexed, "oldObject": indexed}}] {
		findings := job.findings with input as object.union(faulty, wrapper)
		{finding.id | some finding in findings} == {"P1"}
	}
}
