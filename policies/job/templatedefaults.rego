package podverdict.job

import data.podverdict.fields

# The API server's defaults within containers and volumes, by the member that has
# them. Those of ephemeral claims and of the volumes of single vendors are left out.
_with_defaults("ports", ports) := [object.union({"protocol": "TCP"}, _members(port, set())) | some port in ports]

_with_defaults("env", env) := [_variable(variable) | some variable in env]

_with_defaults(name, probe) := object.union(
	{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
	{member: value | some member, value in _handler(probe); not value in [null, 0]},
) if {
	name in {"livenessProbe", "readinessProbe", "startupProbe"}
}

_with_defaults("lifecycle", lifecycle) := {hook: _handler(handler) | some hook, handler in lifecycle}

_with_defaults("volumes", volumes) := [_volume(volume) | some volume in volumes]

# The members that have defaults within, with these.
_inner_defaults(parent) := {name: value |
	some name, written in parent
	not written in [null, []]
	value := _with_defaults(name, written)
}

_variable(variable) := object.union(_members(variable, set()), _field_reference(variable, "valueFrom"))

# The parent's member, when that refers to a field of the pod.
_field_reference(parent, name) := {name: {"fieldRef": object.union({"apiVersion": "v1"}, _members(reference, set()))}} if {
	reference := parent[name].fieldRef
	reference != null
} else := {}

_handler(handler) := object.union(handler, {"httpGet": object.union({"path": "/", "scheme": "HTTP"}, _members(request, set()))}) if {
	request := fields.value(handler, "httpGet")
	request != null
} else := object.union(handler, {"grpc": object.union({"service": ""}, _members(request, set()))}) if {
	request := fields.value(handler, "grpc")
	request != null
} else := handler

_volume(volume) := object.union(_members(volume, set()), source) if {
	source := {name: object.union(_source_defaults[name], _source(members)) |
		some name, members in volume
		_source_defaults[name]
		members != null
	}
	source != {}
} else := object.union(volume, {"emptyDir": {}}) if {
	object.keys(_members(volume, set())) == {"name"}
} else := _members(volume, set())

_source_defaults := {
	"configMap": {"defaultMode": 420},
	"downwardAPI": {"defaultMode": 420},
	"hostPath": {"type": ""},
	"projected": {"defaultMode": 420},
	"secret": {"defaultMode": 420},
}

_source(members) := object.union_n([_members(members, set()), _items(members), {"sources": sources |
	written := fields.list(members, "sources")
	written != []
	sources := [_projection(projection) | some projection in written]
}])

_projection(projection) := object.union_n([
	projection,
	{"serviceAccountToken": object.union({"expirationSeconds": 3600}, token) |
		token := fields.value(projection, "serviceAccountToken")
		token != null
	},
	{"downwardAPI": _items(fields.child(projection, "downwardAPI")) |
		fields.given(projection, "downwardAPI")
	},
])

# Files that hold fields of the pod.
_items(members) := {"items": items |
	written := fields.list(members, "items")
	written != []
	items := [object.union(item, reference) |
		some item in written
		reference := object.get(_field_reference({"item": item}, "item"), "item", {})
	]
}
