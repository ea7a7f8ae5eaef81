package podverdict.job

import data.podverdict.fields
import data.podverdict.indexes

# METADATA
# title: The rules of the success policy
# description: None when the Job is not Indexed; then the policy is wrong as a whole.
success_rules := fields.list(spec.successPolicy, "rules") if indexed

# METADATA
# title: A success policy needs indexes
# custom:
#   id: S1
#   kep: KEP-3998
#   field: spec.successPolicy
#   severity: error
findings contains fields.invalid_rendered(
	"S1", at("successPolicy"), spec.successPolicy, rendered_success_policy(spec.successPolicy),
	"requires indexed completion mode",
) if {
	not indexed
}

# METADATA
# title: A success policy has rules
# custom:
#   id: S2
#   kep: KEP-3998
#   field: spec.successPolicy.rules
#   severity: error
findings contains fields.required(
	"S2", at("successPolicy.rules"),
	"at least one rules must be specified when the successPolicy is specified",
) if {
	success_rules == []
}

# METADATA
# title: A success policy has at most 20 rules
# custom:
#   id: S3
#   kep: KEP-3998
#   field: spec.successPolicy.rules
#   severity: error
findings contains fields.too_many("S3", at("successPolicy.rules"), count(success_rules), 20) if {
	count(success_rules) > 20
}

# METADATA
# title: A success rule says what succeeds
# custom:
#   id: S4
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*]
#   severity: error
findings contains fields.required(
	"S4", _at_success_rule(i, ""),
	"at least one of succeededCount or succeededIndexes must be specified",
) if {
	some i, rule in success_rules
	not fields.given(rule, "succeededCount")
	not fields.given(rule, "succeededIndexes")
}

# METADATA
# title: The indexes of a success rule are not too long
# custom:
#   id: S5
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededIndexes
#   severity: error
findings contains fields.too_long("S5", _at_success_rule(i, ".succeededIndexes"), 65536) if {
	some i, rule in success_rules
	fields.bytes(rule.succeededIndexes) > 65536
}

# METADATA
# title: The indexes of a success rule are increasing and exist
# custom:
#   id: S6
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededIndexes
#   severity: error
findings contains fields.invalid_text(
	"S6", _at_success_rule(i, ".succeededIndexes"), rule.succeededIndexes,
	sprintf("error parsing succeededIndexes: %s", [fault]),
) if {
	some i, rule in success_rules
	fault := indexes.fault(rule.succeededIndexes, spec.completions)
}

# METADATA
# title: The number of successes is not negative
# description: 0 is accepted, although the documentation asks for a positive number.
# custom:
#   id: S7
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededCount
#   severity: error
findings contains _wrong_success_count("S7", i, "must be greater than or equal to 0") if {
	some i, rule in success_rules
	fields.given(rule, "succeededCount")
	rule.succeededCount < 0
}

# METADATA
# title: No more successes than indexes
# custom:
#   id: S8
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededCount
#   severity: error
findings contains _wrong_success_count("S8", i, detail) if {
	some i, rule in success_rules
	rule.succeededCount > spec.completions
	detail := sprintf("must be less than or equal to %d (the number of specified completions)", [spec.completions])
}

# METADATA
# title: No more successes than the indexes listed
# description: Faulty indexes count as none. Where completions are missing the API server panics; here that is CM2 alone.
# custom:
#   id: S9
#   kep: KEP-3998
#   field: spec.successPolicy.rules[*].succeededCount
#   severity: error
findings contains _wrong_success_count("S9", i, detail) if {
	some i, rule in success_rules
	total := indexes.total(rule.succeededIndexes, spec.completions)
	rule.succeededCount > total
	detail := sprintf(
		"must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)",
		[total],
	)
}

_wrong_success_count(id, i, detail) := fields.invalid(
	id, _at_success_rule(i, ".succeededCount"), success_rules[i].succeededCount,
	detail,
)

_at_success_rule(i, member) := sprintf("%s.successPolicy.rules[%d]%s", [root, i, member])
