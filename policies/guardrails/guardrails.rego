# METADATA
# title: Guardrails for Jobs
# description: |
#   What a platform team wants of Jobs and CronJobs beyond what the API demands. Each
#   guardrail can be turned off, graded and tuned by data. Its rule fills breaches[id]
#   with the fields at fault, from one Job and its settings alone; defaults[id] are the
#   settings that it comes with, and details[id] is what its findings say.
# scope: subpackages
# schemas:
#   - data.podverdict.guardrails._job: schema.job
package podverdict.guardrails

# METADATA
# title: Findings of the guardrails
# description: |
#   A finding {id, field, type, detail, msg, severity}, with value where a single value
#   is at fault, for each field of input that breaks a guardrail in force, and one for
#   each mistake in the configuration. Input is a Job or a CronJob, plain or wrapped as
#   {object, oldObject}, in Gatekeeper's review or in an AdmissionReview's request;
#   anything else has no findings.
# entrypoint: true
# scope: document
findings contains finding if {
	some id, settings in config
	settings.enabled
	some breach in breaches[id]
	finding := object.union(breach, {
		"id": id,
		"type": "Guardrail",
		"detail": details[id],
		"msg": _rendered(id, breach, details[id]),
		"severity": settings.severity,
	})
}

findings contains finding if some finding in configuration_errors

_rendered(id, breach, detail) := sprintf("%s: Guardrail %s: %s: %s", [breach.field, id, json.marshal(breach.value), detail]) if {
	breach.value
} else := sprintf("%s: Guardrail %s: %s", [breach.field, id, detail])
