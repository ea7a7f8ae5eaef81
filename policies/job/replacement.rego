package podverdict.job

import data.podverdict.fields

# METADATA
# title: With a failure policy, only failed pods are replaced
# description: The failure policy needs to see how a pod ended.
# custom:
#   id: R1
#   kep: KEP-3329
#   field: spec.podReplacementPolicy
#   severity: error
findings contains fields.unsupported("R1", at("podReplacementPolicy"), spec.podReplacementPolicy, ["Failed"]) if {
	fields.given(spec, "podFailurePolicy")
	spec.podReplacementPolicy != "Failed"
}

# METADATA
# title: The replacement policy is known
# custom:
#   id: R2
#   kep: KEP-3939
#   field: spec.podReplacementPolicy
#   severity: error
findings contains fields.unsupported("R2", at("podReplacementPolicy"), spec.podReplacementPolicy, _replacements) if {
	fields.given(spec, "podReplacementPolicy")
	not fields.given(spec, "podFailurePolicy")
	not spec.podReplacementPolicy in _replacements
}

_replacements := ["Failed", "TerminatingOrFailed"]
