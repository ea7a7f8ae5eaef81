package podverdict.guardrails

import data.podverdict.operators

# This file is what the guardrails see: the Job inside whatever was given, its
# fields with the API's defaults, and the fields' paths. A field of the wrong type
# is left out here, so that no guardrail has to ask again.

# The object under review: given plainly, or as Gatekeeper, the API server's admission
# webhooks and podverdict's updates wrap it. A plain one comes first, so that no
# manifest can pass for a wrapper.
_object := input if {
	_plain
} else := input.review.object if {
	is_object(input.review)
} else := input.request.object if {
	is_object(input.request)
} else := input.object

_plain if input.apiVersion == "batch/v1"

# A CronJob is judged by the Jobs that it makes.
_job := _object if {
	_object.apiVersion == "batch/v1"
	_object.kind == "Job"
} else := _object.spec.jobTemplate if {
	_object.apiVersion == "batch/v1"
	_object.kind == "CronJob"
}

# Without a spec there is no path, and so there are no findings.
_prefix := "spec" if {
	_object.kind == "Job"
	is_object(_job.spec)
} else := "spec.jobTemplate.spec" if {
	is_object(_job.spec)
}

_in_spec(path) := {"field": concat(".", [_prefix, path])}

# A field directly under the Job's spec, with its value, if any. What is not set has
# the value that the API gives it, so that a manifest is told the same as the API server.
_spec_field(name) := object.union(_in_spec(name), {"value": _values[name]}) if {
	_is_scalar(_values[name])
} else := _in_spec(name)

_values := object.union(_job.spec, {
	"backoffLimit": _backoff_limit,
	"parallelism": _parallelism,
	"podReplacementPolicy": _replacement,
})

_is_scalar(value) if is_number(value)

_is_scalar(value) if is_string(value)

_in_rule(i, path) := _in_spec(sprintf("podFailurePolicy.rules[%d]%s", [i, path]))

default _indexed := false

_indexed if _job.spec.completionMode == "Indexed"

default _per_index := false

_per_index if is_number(_job.spec.backoffLimitPerIndex)

default _completions := 1

_completions := _job.spec.completions if is_number(_job.spec.completions)

# What backoffLimit is where backoffLimitPerIndex is not set.
default _backoff_limit := 6

_backoff_limit := _job.spec.backoffLimit if is_number(_job.spec.backoffLimit)

default _parallelism := 1

_parallelism := _job.spec.parallelism if is_number(_job.spec.parallelism)

default _replacement := "TerminatingOrFailed"

_replacement := _job.spec.podReplacementPolicy if {
	is_string(_job.spec.podReplacementPolicy)
} else := "Failed" if {
	is_object(_job.spec.podFailurePolicy)
}

_rule_list := _job.spec.podFailurePolicy.rules if is_array(_job.spec.podFailurePolicy.rules)

# The rules of the policy by their index.
_rules[i] := rule if {
	some i, rule in _rule_list
	is_object(rule)
}

# (That a field is missing is asked by rules like the next: an expression such as
# `not is_number(object.field)` is itself undefined where the field is.)
_has_deadline if is_number(_job.spec.activeDeadlineSeconds)

_has_ttl if is_number(_job.spec.ttlSecondsAfterFinished)

_restarts_in_place if _job.spec.template.spec.restartPolicy == "OnFailure"

# What the rules ask of exit codes. The API allows it to stand alone only, and the
# Job controller looks at nothing else where it stands.
_exit_codes[i] := rule.onExitCodes if {
	some i, rule in _rules
	is_object(rule.onExitCodes)
}

# The rules that take pods with condition DisruptionTarget, and those among them
# that take no others.
_disruption_rules contains i if {
	some i, rule in _rules
	not _exit_codes[i]
	some pattern in rule.onPodConditions
	_is_disruption(pattern)
}

_pure_disruption_rules contains i if {
	some i in _disruption_rules
	every pattern in _rules[i].onPodConditions {
		_is_disruption(pattern)
	}
}

# The API server reads a missing status as True.
_is_disruption(pattern) if {
	pattern.type == "DisruptionTarget"
	object.get(pattern, "status", "True") in {"True", "", null}
}

# An exit-code rule that takes one of the codes at least.
_takes(exit_codes, codes) if {
	some code in codes
	operators.takes(exit_codes.operator, code, object.get(exit_codes, "values", []))
}

# Containers of both lists, by [list, index].
_containers[["containers", i]] := container if {
	is_array(_job.spec.template.spec.containers)
	some i, container in _job.spec.template.spec.containers
}

_containers[["initContainers", i]] := container if {
	is_array(_job.spec.template.spec.initContainers)
	some i, container in _job.spec.template.spec.initContainers
}

_sidecars contains container.name if {
	some ["initContainers", _], container in _containers
	container.restartPolicy == "Always"
}

_names_container(exit_codes) if is_string(exit_codes.containerName)
