# METADATA
# scope: package
# title: Findings
# description: |
#   What a rule reports: an object {id, field, type, detail, msg}, with the
#   rejected value where the API server shows it. type is an error type of the
#   API server, and msg is the line that kubectl prints.
package podverdict.fields

required(id, field, detail) := _finding(id, field, "FieldValueRequired", detail, [])

# METADATA
# description: A value whose bad form the API server writes as JSON.
invalid(id, field, value, detail) := _valued(id, field, "FieldValueInvalid", value, json.marshal(value), detail)

# METADATA
# description: A text that the API server quotes as Go source does.
invalid_text(id, field, value, detail) := _valued(id, field, "FieldValueInvalid", value, quoted(value), detail)

# METADATA
# description: A value whose bad form has members of its own order or names.
invalid_rendered(id, field, value, rendered, detail) := _valued(id, field, "FieldValueInvalid", value, rendered, detail)

# METADATA
# description: A thing that is wrong as a whole; no value is shown.
invalid_whole(id, field, detail) := _finding(id, field, "FieldValueInvalid", detail, [])

# METADATA
# description: A value outside of a closed list, which is shown in the order given.
unsupported(id, field, value, supported) := _valued(
	id, field, "FieldValueNotSupported", value, json.marshal(value),
	sprintf("supported values: %s", [concat(", ", [quoted(s) | some s in supported])]),
)

duplicate(id, field, value) := _valued(id, field, "FieldValueDuplicate", value, json.marshal(value), "")

too_many(id, field, number, most) := _valued(
	id, field, "FieldValueTooMany", number, json.marshal(number),
	sprintf("must have at most %d items", [most]),
)

too_long(id, field, most) := _finding(
	id, field, "FieldValueTooLong",
	sprintf("may not be more than %d bytes", [most]), [],
)

# METADATA
# description: The detail of a required value that is one of a list.
valid_values(values) := sprintf("valid values: [%s]", [concat(" ", [quoted(v) | some v in values])])

quoted(text) := sprintf("%q", [text])

# METADATA
# description: True when a member is there and not null, which a decoder takes for absent.
given(parent, name) if object.get(parent, name, null) != null

# METADATA
# description: The member, or null when it is absent.
value(parent, name) := object.get(parent, name, null)

# METADATA
# description: The member, or "" when it is absent.
text(parent, name) := _or(object.get(parent, name, null), "")

# METADATA
# description: The member, or [] when it is absent.
list(parent, name) := _or(object.get(parent, name, null), [])

# METADATA
# description: The member, or {} when it is absent.
child(parent, name) := _or(object.get(parent, name, null), {})

# METADATA
# description: The member, or 0 when it is absent.
number(parent, name) := _or(object.get(parent, name, null), 0)

# METADATA
# description: The length of a text in bytes; the API server counts no characters.
bytes(written) := count(hex.encode(written)) / 2

_or(found, otherwise) := otherwise if {
	found == null
} else := found

_finding(id, field, type, detail, shown) := {
	"id": id,
	"field": field,
	"type": type,
	"detail": detail,
	"msg": concat(": ", array.concat(
		array.concat([field, _labels[type]], shown),
		[d | d := detail; d != ""],
	)),
}

_valued(id, field, type, bad, rendered, detail) := object.union(
	_finding(id, field, type, detail, [rendered]),
	{"value": bad},
)

_labels := {
	"FieldValueRequired": "Required value",
	"FieldValueInvalid": "Invalid value",
	"FieldValueNotSupported": "Unsupported value",
	"FieldValueDuplicate": "Duplicate value",
	"FieldValueTooMany": "Too many",
	"FieldValueTooLong": "Too long",
}
