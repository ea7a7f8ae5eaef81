package podverdict.jobstatus

import data.podverdict.fields

# METADATA
# title: The metadata that identify a Job stay
# custom:
#   id: ST31
#   kep: batch/v1
#   field: metadata.name, metadata.namespace, metadata.uid
#   severity: error
findings contains fields.invalid("ST31", sprintf("metadata.%s", [name]), metadata[name], "field is immutable") if {
	some name in ["name", "namespace", "uid"]
	metadata := fields.child(input.new, "metadata")
	fields.text(metadata, name) != ""
	metadata[name] != fields.text(fields.child(input.old, "metadata"), name)
}

# METADATA
# title: The spec in a write to the status is ignored
# custom:
#   id: ST31
#   kep: batch/v1
#   field: spec
#   severity: warning
warnings contains {"id": "ST31", "field": "spec", "type": "Warning", "detail": detail, "msg": sprintf("spec: %s", [detail])} if {
	detail := "a write to the status does not change the spec"
	new_spec := fields.child(input.new, "spec")
	new_spec != {}
	new_spec != fields.child(input.old, "spec")
}
