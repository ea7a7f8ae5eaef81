package podverdict.job

import data.podverdict.fields
import data.podverdict.names

# METADATA
# title: A manager has a name
# custom:
#   id: M1
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains fields.required("M1", at("managedBy"), "") if spec.managedBy == ""

# METADATA
# title: A manager has a domain and a path
# custom:
#   id: M2
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains fields.invalid_text(
	"M2", at("managedBy"), spec.managedBy,
	`must be a domain-prefixed path (such as "acme.io/foo")`,
) if {
	spec.managedBy != ""
	not _manager
}

# METADATA
# title: The manager's domain is a DNS subdomain
# custom:
#   id: M3
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains fields.invalid_text("M3", at("managedBy"), _manager.domain, fault) if {
	some fault in names.subdomain_faults(_manager.domain, "characters")
}

# METADATA
# title: The manager's path is that of a URL
# custom:
#   id: M4
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains fields.invalid_text(
	"M4", at("managedBy"), _manager.path,
	sprintf("Invalid path (regex used for validation is '%s')", [_path]),
) if {
	not regex.match(sprintf("^%s$", [_path]), _manager.path)
}

# METADATA
# title: The manager's name is short
# description: 63 bytes; the KEP says 64.
# custom:
#   id: M5
#   kep: KEP-4368
#   field: spec.managedBy
#   severity: error
findings contains fields.too_long("M5", at("managedBy"), 63) if fields.bytes(spec.managedBy) > 63

_path := `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`

# The path may hold further slashes.
_manager := {"domain": domain, "path": path} if {
	slash := indexof(spec.managedBy, "/")
	slash > 0
	domain := substring(spec.managedBy, 0, slash)
	path := substring(spec.managedBy, slash + 1, -1)
	path != ""
}
