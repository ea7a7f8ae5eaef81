# METADATA
# scope: package
# title: Verdicts for conftest
# description: |
#   The bundle in the form that conftest and other tools look for: deny holds what the API
#   server would refuse, warn what it or a platform team warns of. The Jobs and CronJobs of
#   a List, and those of several files that conftest --combine puts together, are judged
#   one by one; then the messages begin with the file and the object's name.
package main

# METADATA
# title: What the API server refuses, and guardrails that are errors
# scope: document
# entrypoint: true
deny contains finding if some finding in _denied

deny contains finding if {
	some [place, document] in _documents
	found := _denied with input as document
	some finding in _placed(place, found)
}

# METADATA
# title: What the API server warns of, and guardrails that are warnings
# scope: document
# entrypoint: true
warn contains finding if some finding in _warned

warn contains finding if {
	some [place, document] in _documents
	found := _warned with input as document
	some finding in _placed(place, found)
}

# Of the input as one document.
_denied contains finding if some finding in data.podverdict.job.findings

_denied contains finding if {
	some finding in data.podverdict.guardrails.findings
	finding.severity == "error"
}

_warned contains finding if some finding in data.podverdict.job.warnings

_warned contains finding if {
	some finding in data.podverdict.guardrails.findings
	finding.severity != "error"
}

# The documents within the input, each with what its messages begin with.
_documents contains [concat("", [_file(path), _name(document)]), document] if {
	not input.apiVersion == "batch/v1"
	walk(input, [path, document])
	document.apiVersion == "batch/v1"
	every step in path {
		_leads(step)
	}
}

# Conftest combines files to [{path, contents}]. A List has items, and may be one of Lists.
_leads(step) if is_number(step)

_leads(step) if step in {"contents", "items"}

_file(path) := sprintf("%s: ", [input[path[0]].path]) if {
	is_string(input[path[0]].path)
} else := ""

_name(document) := sprintf("%s %s: ", [document.kind, document.metadata.name]) if {
	is_string(document.metadata.name)
} else := sprintf("%s: ", [document.kind])

_placed(place, found) := {object.union(finding, {"msg": concat("", [place, finding.msg])}) | some finding in found}
