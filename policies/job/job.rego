# METADATA
# scope: package
# title: Constraints of the Job API
# description: |
#   What the API server of Kubernetes 1.37 refuses in a Job, or in the jobTemplate of
#   a CronJob: failure and success policies, limits, completion, replacement, and
#   what may change in an update. The input is a manifest, or {object, oldObject} for
#   an update, or an admission review, as the API server or Gatekeeper sends it.
#
#   `findings` holds all faults, each once. The API server itself repeats them on an
#   update, because it validates the Job and then the update. `warnings` holds what it
#   accepts with a warning.
package podverdict.job

import data.podverdict.fields

# METADATA
# title: The object as submitted
# description: A plain one comes first, so that no manifest can pass for a wrapper.
submitted := input if {
	_plain
} else := input.review.object if {
	is_object(input.review.object)
} else := input.request.object if {
	is_object(input.request.object)
} else := input.object if {
	is_object(input.object)
} else := input

# METADATA
# title: The object that an update replaces
# description: Undefined when the input is no update.
stored := input.review.oldObject if {
	not _plain
	is_object(input.review.oldObject)
} else := input.request.oldObject if {
	not _plain
	is_object(input.request.oldObject)
} else := input.oldObject if {
	not _plain
	is_object(input.oldObject)
}

_plain if input.apiVersion == "batch/v1"

# METADATA
# title: The Job's spec
# description: Defaults applied, null members left out. Undefined for other kinds, so that no rule applies to them.
spec := defaulted_spec(fields.child(submitted, "spec")) if is_job

spec := defaulted_template(fields.child(fields.child(fields.child(submitted, "spec"), "jobTemplate"), "spec")) if {
	is_cronjob
}

is_job if _is("Job")

is_cronjob if _is("CronJob")

_is(kind) if {
	submitted.apiVersion == "batch/v1"
	submitted.kind == kind
}

# METADATA
# title: The path of a member of the Job's spec
at(name) := sprintf("%s.%s", [root, name])

# METADATA
# title: The path of the Job's spec
root := "spec" if is_job

root := "spec.jobTemplate.spec" if is_cronjob

# METADATA
# title: The pod template's spec
pod_spec := fields.child(fields.child(spec, "template"), "spec")

indexed if spec.completionMode == "Indexed"

# METADATA
# title: Not Indexed
# description: Modes unknown to the API are neither Indexed nor NonIndexed.
non_indexed if object.get(spec, "completionMode", "NonIndexed") == "NonIndexed"
