package podverdict.guardrails

# METADATA
# title: Settings of the guardrails in force
# description: |
#   The defaults with what data.podverdict.config.guardrails says, or in Gatekeeper the
#   constraint's parameters under guardrails. A value that cannot be used leaves the
#   default in force and is reported by configuration_errors.
config[id] := object.union(standard, object.get(_usable, id, {})) if {
	some id, standard in defaults
}

# METADATA
# title: Mistakes in the configuration
# description: |
#   One finding for each guardrail, parameter or value that does not exist or cannot be
#   used. They are findings too: a guardrail that was configured wrongly must not look
#   like one that is satisfied.
configuration_errors contains finding if {
	some [path, detail] in _mistakes
	field := concat(".", array.concat([_source], path))
	finding := {
		"id": "G-CONFIG",
		"field": field,
		"type": "Configuration",
		"detail": detail,
		"msg": sprintf("%s: Configuration G-CONFIG: %s", [field, detail]),
		"severity": "error",
	}
}

_configured := input.parameters.guardrails if {
	_has_parameters
} else := data.podverdict.config.guardrails

_source := "parameters.guardrails" if {
	_has_parameters
} else := "data.podverdict.config.guardrails"

_has_parameters if {
	not _plain
	_ = input.parameters.guardrails
}

_entries := _configured if is_object(_configured)

# What was configured for guardrails that exist, less what has the wrong shape, and
# then less what makes no sense together.
_shaped[id] := {name: value |
	some name, value in settings
	_shape(id, name, value) == ""
} if {
	some id, settings in _entries
	defaults[id]
	is_object(settings)
}

_usable[id] := object.remove(settings, _contradictory(id)) if some id, settings in _shaped

_mistakes contains [[], "must be an object of settings by guardrail id"] if {
	_configured_somehow
	not _entries
}

_mistakes contains [[id], "is not a guardrail"] if {
	some id, _ in _entries
	not defaults[id]
}

_mistakes contains [[id], "must be an object of settings"] if {
	some id, _ in _entries
	defaults[id]
	not _shaped[id]
}

_mistakes contains [[id, name], detail] if {
	some id, _ in _shaped
	some name, value in _entries[id]
	detail := _shape(id, name, value)
	detail != ""
}

_mistakes contains [[id, name], "min must be less than or equal to max"] if {
	some id, settings in _shaped
	some name in _contradictory(id)
	_ = settings[name]
}

_configured_somehow if _ = _configured

# What is wrong with one value; empty when nothing is.
_shape(id, name, value) := "is not a parameter of this guardrail" if {
	not name in object.keys(defaults[id])
} else := sprintf("must be %s", [_kind(defaults[id][name])]) if {
	_kind(value) != _kind(defaults[id][name])
} else := sprintf("must be one of %s", [concat(", ", _choices[name])]) if {
	some item in _items(value)
	not item in _choices[name]
} else := "must be at most 100" if {
	name == "maxPercent"
	value > 100
} else := ""

_choices := {
	"severity": ["error", "warning"],
	"actions": ["FailJob", "FailIndex", "Ignore", "Count"],
}

_items(value) := value if {
	is_array(value)
} else := [value]

_kind(value) := "true or false" if {
	is_boolean(value)
} else := "a string" if {
	is_string(value)
} else := "a whole number, 0 or more" if {
	_is_whole(value)
	value >= 0
} else := "a list of strings, one at least" if {
	_is_list(value)
	every item in value {
		is_string(item)
	}
} else := "a list of whole numbers, one at least" if {
	_is_list(value)
	every item in value {
		_is_whole(item)
	}
} else := "of another type"

_is_list(value) if {
	is_array(value)
	value != []
}

_is_whole(value) if {
	is_number(value)
	value == floor(value)
}

_contradictory(id) := {"min", "max"} if {
	settings := object.union(defaults[id], _shaped[id])
	settings.min > settings.max
} else := set()
