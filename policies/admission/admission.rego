# METADATA
# scope: package
# title: Answers of an admission webhook
# description: |
#   What a validating webhook answers when the API server asks about a Job or a CronJob.
#   The input is an AdmissionReview. A new object is judged as a whole. An update is judged
#   when it changes the spec, and refused only for findings that the old object does not
#   have: what exists already can be labelled, suspended and mended step by step. What is
#   deleted or being deleted is let through, and so are subresources.
package podverdict.admission

# METADATA
# title: The answer to an AdmissionReview
# description: |
#   A whole AdmissionReview with its response. Undefined when the input is none, so that
#   a webhook that is asked for something else answers with an error.
# entrypoint: true
# scope: document
review := {
	"apiVersion": "admission.k8s.io/v1",
	"kind": "AdmissionReview",
	"response": object.union(_decision, {"uid": input.request.uid, "warnings": _messages("warning")}),
} if {
	input.kind == "AdmissionReview"
}

# METADATA
# title: What is held against a request
# description: Findings, those of the Job API and of guardrails alike, each with its severity.
# entrypoint: true
# scope: document
findings contains finding if {
	not left_alone(input.request)
	some finding in (_found - _found_before)
}

# METADATA
# title: Requests that are never judged
# description: What is deleted or being deleted, subresources, and updates that leave the spec as it was.
left_alone(request) if request.operation in {"DELETE", "CONNECT"}

left_alone(request) if is_string(request.object.metadata.deletionTimestamp)

left_alone(request) if object.get(request, "subResource", "") != ""

left_alone(request) if request.object.spec == request.oldObject.spec

_found := (_graded("error", data.podverdict.job.findings) | _graded("warning", data.podverdict.job.warnings)) | data.podverdict.guardrails.findings

# What the old object was refused for, if it were new.
_found_before := found if {
	is_object(input.request.oldObject)
	found := _found with input as input.request.oldObject
} else := set()

_graded(severity, found) := {object.union(finding, {"severity": severity}) | some finding in found}

_decision := {"allowed": true} if {
	_messages("error") == []
} else := {
	"allowed": false,
	"status": {"code": 422, "reason": "Invalid", "message": concat("; ", _messages("error"))},
}

# In the order of the fields, whose paths they begin with.
_messages(severity) := sort({finding.msg | some finding in findings; finding.severity == severity})
