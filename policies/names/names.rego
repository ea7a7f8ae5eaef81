# METADATA
# scope: package
# title: Names
# description: What is wrong with a name, in the words of the API server; nothing when it is legal.
package podverdict.names

import data.podverdict.fields

# METADATA
# description: True for a DNS label of RFC 1123.
is_label(name) if {
	fields.bytes(name) <= 63
	regex.match(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, name)
}

# METADATA
# description: |
#   The faults of a DNS subdomain of RFC 1123, such as example.com. The API server counts
#   bytes everywhere, but in places calls them characters.
subdomain_faults(name, unit) := _long(name, 253, unit) | {fault |
	not regex.match(_subdomain, name)
	fault := sprintf(
		"%s (e.g. 'example.com', regex used for validation is '%s')",
		[_subdomain_description, trim(_subdomain, "^$")],
	)
}

# METADATA
# description: The faults of a qualified name, such as example.com/Name.
qualified_faults(name) := _faults(split(name, "/"))

_faults(parts) := _name_faults(parts[0]) if count(parts) == 1

_faults(parts) := _prefix_faults(parts[0]) | _name_faults(parts[1]) if count(parts) == 2

_faults(parts) := {sprintf(
	"a valid label key %s with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
	[_characters],
)} if {
	count(parts) > 2
}

_prefix_faults("") := {"prefix part must be non-empty"}

_prefix_faults(prefix) := {sprintf("prefix part %s", [f]) | some f in subdomain_faults(prefix, "bytes")} if prefix != ""

_name_faults("") := {"name part must be non-empty", sprintf("name part %s", [_characters])}

_name_faults(name) := long | wrong if {
	name != ""
	long := {sprintf("name part %s", [f]) | some f in _long(name, 63, "bytes")}
	wrong := {f | not regex.match(_name, name); f := sprintf("name part %s", [_characters])}
}

_long(name, most, unit) := {sprintf("must be no more than %d %s", [most, unit]) | fields.bytes(name) > most}

_subdomain := `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`

_name := `^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`

_subdomain_description := concat("", [
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ",
	"and must start and end with an alphanumeric character",
])

_characters := sprintf(
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character %s",
	[sprintf("(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '%s')", [trim(_name, "^$")])],
)
