package podverdict.job

import data.podverdict.fields
import data.podverdict.names

# METADATA
# title: The completion mode is known
# custom:
#   id: CM1
#   kep: KEP-2214
#   field: spec.completionMode
#   severity: error
findings contains fields.unsupported("CM1", at("completionMode"), spec.completionMode, ["NonIndexed", "Indexed"]) if {
	fields.given(spec, "completionMode")
	not spec.completionMode in {"NonIndexed", "Indexed"}
}

# METADATA
# title: Indexed Jobs say how many indexes they have
# custom:
#   id: CM2
#   kep: KEP-2214
#   field: spec.completions
#   severity: error
findings contains fields.required("CM2", at("completions"), "when completion mode is Indexed") if {
	indexed
	not fields.given(spec, "completions")
}

# METADATA
# title: The name leaves room for the index
# description: The hostname of a pod is the name of the Job and the index. A name still to be generated is not judged.
# custom:
#   id: CM3
#   kep: KEP-2214
#   field: metadata.name
#   severity: error
findings contains fields.invalid_text(
	"CM3", "metadata.name", name,
	sprintf("will not able to create pod with invalid DNS label: %s", [hostname]),
) if {
	is_job
	indexed
	spec.completions > 0
	metadata := fields.child(submitted, "metadata")
	name := fields.text(metadata, "name")
	not _to_be_generated(metadata)
	hostname := sprintf("%s-%d", [name, spec.completions - 1])
	not names.is_label(hostname)
}

_to_be_generated(metadata) if {
	fields.text(metadata, "name") == ""
	fields.text(metadata, "generateName") != ""
}
