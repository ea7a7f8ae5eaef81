package podverdict.guardrails_test

import data.podverdict.guardrails

# One case for each guardrail: the patch that makes the clean Job break it, and where.
# The other tests of this file hold for all of them.
broken := object.union_n([
	broken_policies,
	broken_disruptions,
	broken_exit_codes,
	broken_containers,
	broken_bounds,
	broken_indexes,
	broken_replacements,
])

job_of(id) := json.patch(clean, broken[id].patch)

finding_of(id, judged, settings) := finding if {
	some finding in found(judged, object.union(everything, {id: settings}))
	finding.id == id
}

test_every_guardrail_is_broken_by_a_case if object.keys(broken) == object.keys(guardrails.defaults)

test_every_guardrail_has_a_breach_and_details if {
	object.keys(guardrails.breaches) == object.keys(guardrails.defaults) with input as clean
	object.keys(guardrails.details) == object.keys(guardrails.defaults)
}

test_clean_job_has_no_findings if found(clean, everything) == set()

test_clean_cron_job_has_no_findings if found(cron_job(clean), everything) == set()

test_fires[id] if {
	some id, _ in broken
	finding := finding_of(id, job_of(id), {"enabled": true})
	finding.field == broken[id].field
	finding.type == "Guardrail"
	finding.detail == guardrails.details[id]
	startswith(finding.msg, concat("", [finding.field, ": Guardrail ", id, ": "]))
	endswith(finding.msg, finding.detail)
	finding.severity == guardrails.defaults[id].severity
}

test_fires_in_cron_job[id] if {
	some id, _ in broken
	finding := finding_of(id, owned_by_cron_job(id), {"enabled": true})
	finding.field == concat("", ["spec.jobTemplate.", broken[id].field])
}

# A CronJob removes its Jobs, so that the time may be missing there.
owned_by_cron_job(id) := cron_job(json.patch(clean, put("ttlSecondsAfterFinished", 1))) if {
	id == "G-TTL"
} else := cron_job(job_of(id))

test_off_is_silent[id] if {
	some id, _ in broken
	not finding_of(id, job_of(id), {"enabled": false})
}

test_severity_is_configured[id] if {
	some id, _ in broken
	some severity in ["error", "warning"]
	finding_of(id, job_of(id), {"enabled": true, "severity": severity}).severity == severity
}

test_details_do_not_depend_on_the_object if {
	details := guardrails.details with input as clean
	details == guardrails.details with input as {}
}

test_wrapped_job_has_the_same_findings[note] if {
	job := job_of("G-TTL")
	some note, wrapped in {
		"an update": {"object": job, "oldObject": clean},
		"Gatekeeper": {"review": {"kind": {"kind": "Job"}, "object": job, "oldObject": clean}, "parameters": {}},
		"a webhook": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"object": job}},
	}
	findings := found(wrapped, {})
	findings == found(job, {})
	count(findings) == 1
}

test_other_kinds_have_no_findings[note] if {
	some note, other in {
		"nothing": null,
		"an empty object": {},
		"a number": 1,
		"a Pod": {"apiVersion": "v1", "kind": "Pod", "spec": {}},
		"another project's Job": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {}},
		"another project's CronJob": {"apiVersion": "example.com/v1", "kind": "CronJob", "spec": {"jobTemplate": {"spec": {}}}},
		"another kind of the group": {"apiVersion": "batch/v1", "kind": "Nightly", "spec": {"jobTemplate": {"spec": {}}}},
		"a Job without kind": {"spec": {}},
		"a review of another project's Job": {"review": {"object": {
			"apiVersion": "batch.volcano.sh/v1alpha1",
			"kind": "Job",
			"spec": {},
		}}},
		"a review of another project's CronJob": {"review": {"object": {
			"apiVersion": "example.com/v1",
			"kind": "CronJob",
			"spec": {"jobTemplate": {"spec": {}}},
		}}},
		"a review of a deletion": {"review": {"object": null, "oldObject": clean}},
		"a Job without spec": {"apiVersion": "batch/v1", "kind": "Job"},
		"a CronJob without template": {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {}},
	}
	found(other, everything) == set()
}

# Whatever stands in place of a field, evaluation must not stumble: a function that
# fails where built-in errors are strict would leave the count undefined. Three tests,
# because each has the time of one.
test_hostile_policy_is_judged if {
	every path in hostile_paths(["spec", "podFailurePolicy"]) {
		is_judged(path)
	}
}

test_hostile_template_is_judged if {
	every path in hostile_paths(["spec", "template"]) {
		is_judged(path)
	}
}

test_hostile_job_is_judged if {
	every path in {path | walk(clean, [path, _]); count(path) in {1, 2}} {
		is_judged(path)
	}
}

hostile_paths(prefix) := {array.concat(prefix, path) |
	walk(object.get(clean, prefix, {}), [path, _])
}

is_judged(path) if {
	every value in [null, "x", [5], {"a": {}}] {
		count(found(hostile(path, value), everything)) >= 0
	}
	count(found(json.remove(clean, [path]), everything)) >= 0
}

hostile(path, value) := json.patch(clean, [{"op": "replace", "path": path, "value": value}])

# Else a manifest could show another in its place.
test_manifest_is_no_wrapper[note] if {
	some note, wrapper in {
		"Gatekeeper": {"review": {"object": clean}},
		"a webhook": {"request": {"object": clean}},
		"an update": {"object": clean},
	}
	found(object.union(job_of("G-TTL"), wrapper), {}) == found(job_of("G-TTL"), {})
}

test_only_single_values_are_shown if {
	some finding in found(json.patch(clean, put("activeDeadlineSeconds", [1])), {})
	finding.msg == "spec.activeDeadlineSeconds: Guardrail G-DEADLINE: must be set, from 1 to 604800"
	not finding.value
}

test_values_are_rendered_as_json if {
	found(json.patch(clean, put("managedBy", "acme.io/typo")), {"G-MANAGED-BY": {"allowed": ["acme.io/jobs"]}}) == {{
		"id": "G-MANAGED-BY",
		"field": "spec.managedBy",
		"type": "Guardrail",
		"value": "acme.io/typo",
		"detail": "must be one of acme.io/jobs",
		"msg": `spec.managedBy: Guardrail G-MANAGED-BY: "acme.io/typo": must be one of acme.io/jobs`,
		"severity": "error",
	}}
}
