package podverdict.job

import data.podverdict.fields

# METADATA
# title: The limit per index is not negative
# custom:
#   id: B1
#   kep: KEP-3850
#   field: spec.backoffLimitPerIndex
#   severity: error
findings contains _negative("B1", "backoffLimitPerIndex") if spec.backoffLimitPerIndex < 0

# METADATA
# title: The number of failed indexes is not negative
# custom:
#   id: B2
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains _negative("B2", "maxFailedIndexes") if spec.maxFailedIndexes < 0

# METADATA
# title: Failed indexes are counted only with a limit per index
# custom:
#   id: B3
#   kep: KEP-3850
#   field: spec.backoffLimitPerIndex
#   severity: error
findings contains fields.required("B3", at("backoffLimitPerIndex"), "when maxFailedIndexes is specified") if {
	fields.given(spec, "maxFailedIndexes")
	not fields.given(spec, "backoffLimitPerIndex")
}

# METADATA
# title: No more failed indexes than indexes
# custom:
#   id: B4
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains fields.invalid(
	"B4", at("maxFailedIndexes"), spec.maxFailedIndexes,
	"must be less than or equal to completions",
) if {
	indexed
	spec.maxFailedIndexes > spec.completions
}

# METADATA
# title: The number of failed indexes is bounded
# custom:
#   id: B5
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains fields.invalid(
	"B5", at("maxFailedIndexes"), spec.maxFailedIndexes,
	"must be less than or equal to 100000",
) if {
	indexed
	spec.maxFailedIndexes > 100000
}

# METADATA
# title: Very many indexes need a number of failed ones
# custom:
#   id: B6
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains fields.required(
	"B6", at("maxFailedIndexes"),
	"must be specified when completions is above 100000",
) if {
	large_with_limit_per_index
	not fields.given(spec, "maxFailedIndexes")
}

# METADATA
# title: Few failed indexes of very many
# custom:
#   id: B7
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains _above_large_limit("B7", "maxFailedIndexes") if {
	large_with_limit_per_index
	spec.maxFailedIndexes > 10000
}

# METADATA
# title: A limit per index needs indexes
# custom:
#   id: B8
#   kep: KEP-3850
#   field: spec.backoffLimitPerIndex
#   severity: error
findings contains fields.invalid("B8", at("backoffLimitPerIndex"), spec.backoffLimitPerIndex, "requires indexed completion mode") if {
	non_indexed
	fields.given(spec, "backoffLimitPerIndex")
}

# METADATA
# title: Failed indexes need indexes
# custom:
#   id: B9
#   kep: KEP-3850
#   field: spec.maxFailedIndexes
#   severity: error
findings contains fields.invalid("B9", at("maxFailedIndexes"), spec.maxFailedIndexes, "requires indexed completion mode") if {
	non_indexed
	fields.given(spec, "maxFailedIndexes")
}
