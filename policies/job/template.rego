package podverdict.job

import data.podverdict.fields

# METADATA
# title: The pod template may change in part
# description: While the old Job is suspended, with no active pods, and has not started or is marked as suspended.
template_mutable if {
	old_spec.suspend == true
	status := fields.child(stored, "status")
	fields.number(status, "active") == 0
	_at_rest(status)
}

_at_rest(status) if not fields.given(status, "startTime")

_at_rest(status) if {
	some condition in fields.list(status, "conditions")
	condition.type == "Suspended"
	condition.status == "True"
}

_fixed_part := "template.spec" if {
	template_mutable
} else := "template"

# What must be equal in the old and the new template.
_fixed_template(job_spec) := object.remove(_fixed_pod_spec(template), {"nodeSelector", "tolerations", "schedulingGates"}) if {
	template_mutable
	template := fields.child(job_spec, "template")
} else := _whole_template(fields.child(job_spec, "template"))

_whole_template(template) := [_template_metadata(template), _pod_spec_with_defaults(fields.child(template, "spec"))]

_fixed_pod_spec(template) := object.union(object.remove(whole, {"affinity"}), object.union_n([
	{list: containers |
		some list in {"containers", "initContainers"}
		containers := [object.remove(c, {"resources"}) | some c in whole[list]]
	},
	{"affinity": affinity |
		affinity := object.remove(whole.affinity, {"nodeAffinity"})
		affinity != {}
	},
])) if {
	whole := _pod_spec_with_defaults(fields.child(template, "spec"))
}

_template_metadata(template) := _members(fields.child(template, "metadata"), {"labels", "annotations"})

# The API server's defaults, so that a manifest can be compared with a stored object.
_pod_spec_with_defaults(written) := object.union_n([
	{
		"dnsPolicy": "ClusterFirst",
		"restartPolicy": "Always",
		"schedulerName": "default-scheduler",
		"securityContext": {},
		"terminationGracePeriodSeconds": 30,
	},
	_members(object.remove(written, ["serviceAccount"]), {"nodeSelector", "overhead", "hostNetwork", "hostPID", "hostIPC"}),
	_inner_defaults({"volumes": fields.value(written, "volumes")}),
	_service_account(written),
	{list: containers |
		some list in {"containers", "initContainers"}
		containers := [_container_with_defaults(c) | some c in fields.list(written, list)]
	},
])

# serviceAccount is an old name, which stored objects have besides.
_service_account(written) := {"serviceAccountName": written.serviceAccount} if {
	fields.text(written, "serviceAccountName") == ""
	fields.text(written, "serviceAccount") != ""
} else := {}

_container_with_defaults(container) := object.union_n([
	{
		"imagePullPolicy": _pull_policy(fields.text(container, "image")),
		"terminationMessagePath": "/dev/termination-log",
		"terminationMessagePolicy": "File",
	},
	_members(object.remove(container, ["resources"]), {"stdin", "stdinOnce", "tty"}),
	_inner_defaults(container),
	{"resources": _resources(fields.child(container, "resources"))},
])

_pull_policy(image) := "Always" if {
	endswith(split(image, "@")[0], ":latest")
} else := "Always" if {
	not contains(image, "@")
	segments := split(image, "/")
	not contains(segments[count(segments) - 1], ":")
} else := "IfNotPresent"

# Quantities are compared as numbers: 1000m is 1.
_resources(written) := {name: amounts |
	some name, given in _members(written, {"limits", "requests"})
	amounts := _amounts(given)
}

_amounts(given) := {resource: _amount(quantity) | some resource, quantity in given} if {
	is_object(given)
} else := given

# Multiplied, so that 1.000 becomes 1.
_amount(quantity) := units.parse(sprintf("%v", [quantity])) * 1 if {
	units.parse(sprintf("%v", [quantity]))
} else := quantity

# Absent, null and empty are the same for texts and lists, and for the members named.
_members(parent, optional) := {name: member |
	some name, member in parent
	not member in [null, "", []]
	not _empty(name, member, optional)
}

_empty(name, member, optional) if {
	name in optional
	member in [{}, false]
}
